// A step of Newton's method towards E - e sin E = M. The sine and the cosine are made from Taylor's
// series of half the angle, for angles from -4 to 4: unlike OpenCL's they have no branches, so that
// CPUs compute several at a time.
__attribute__((always_inline)) float step_towards(const float mean, const float e, const float eccentric) {
    const float angle = 0.5f * eccentric;
    const float square = angle * angle;
    float sine = 1.0f / 6227020800.0f;
    sine = sine * square - 1.0f / 39916800.0f;
    sine = sine * square + 1.0f / 362880.0f;
    sine = sine * square - 1.0f / 5040.0f;
    sine = sine * square + 1.0f / 120.0f;
    sine = sine * square - 1.0f / 6.0f;
    sine = (sine * square + 1.0f) * angle;
    float cosine = -1.0f / 87178291200.0f;
    cosine = cosine * square + 1.0f / 479001600.0f;
    cosine = cosine * square - 1.0f / 3628800.0f;
    cosine = cosine * square + 1.0f / 40320.0f;
    cosine = cosine * square - 1.0f / 720.0f;
    cosine = cosine * square + 1.0f / 24.0f;
    cosine = cosine * square - 0.5f;
    cosine = cosine * square + 1.0f;
    const float excess = eccentric - e * (2.0f * sine * cosine) - mean;
    return eccentric - excess / (1.0f - e * (1.0f - 2.0f * sine * sine));
}

// The eccentric anomaly E of an orbit, from Kepler's equation, E - e sin E = M. The upper half of
// the orbit's bits is the eccentricity e, from 0 to 0.99, the lower half the mean anomaly M, a whole
// turn from -pi on. `orbits` is a power of two.
__attribute__((always_inline)) float anomaly(const uint orbit, const uint orbits) {
    const uint bits = 31 - clz(orbits);
    const uint turn = 1u << bits / 2;
    const float e = 0.99f / (orbits >> bits / 2) * (orbit >> bits / 2);
    const float mean = 2.0f * M_PI_F / turn * (orbit & (turn - 1)) - M_PI_F;
    // The first guess is Danby's (1987).
    float eccentric = mean + copysign(0.85f * e, mean);
    // Seven steps leave an error of rounding for every orbit there is.
    #pragma unroll
    for (int step = 0; step < 7; step++) {
        eccentric = step_towards(mean, e, eccentric);
    }
    return eccentric;
}

// What is looked up: the anomaly of every orbit that there is.
__kernel void tabulate(const uint orbits, __global float* table) {
    table[get_global_id(0)] = anomaly(get_global_id(0), orbits);
}

__kernel void anomalies(const uint n, const uint orbits, __global const uint* satellites,
                        __global const float* table, __global float* eccentric) {
    const uint first = get_group_id(0) * WG * WPT + get_local_id(0);
    for (uint k = 0; k < WPT; k++) {
        const uint i = first + k * WG;
        const uint orbit = satellites[i] & (orbits - 1);
        eccentric[i] = LOOKUP ? table[orbit] : anomaly(orbit, orbits);
    }
}
