// The lightness of a sample, L* of CIE 1976: a cube root, and a straight line where it is dark.
float curve(const uint sample) {
    const float light = sample / 65535.0f;
    // A third of the exponent, then Newton's method.
    float root = as_float(as_uint(light) / 3 + 709921077);
    #pragma unroll
    for (int step = 0; step < 3; step++) {
        root += (light / (root * root) - root) * (1.0f / 3.0f);
    }
    return light > 216.0f / 24389.0f ? 116.0f * root - 16.0f : light * (24389.0f / 27.0f);
}

// What is looked up: the lightness of every sample that there is.
__kernel void tabulate(__global float* table) {
    table[get_global_id(0)] = curve(get_global_id(0));
}

__kernel void tone(const uint n, __global const ushort* samples, __global const float* table,
                   __global float* tones) {
    const uint first = get_group_id(0) * WG * WPT + get_local_id(0);
    for (uint k = 0; k < WPT; k++) {
        const uint i = first + k * WG;
        tones[i] = LOOKUP ? table[samples[i]] : curve(samples[i]);
    }
}
