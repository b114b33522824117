// The number of keys below each key, from the number of keys of each value.

__kernel void count(__global const uint* keys, __global uint* counts) {
    atomic_inc(&counts[keys[get_global_id(0)]]);
}

__kernel void scan(const uint values, __global const uint* counts, __global uint* below) {
    uint sum = 0;
    for (uint i = 0; i < values; i++) {
        below[i] = sum;
        sum += counts[i];
    }
}

__kernel void split(__global const float2* pairs, __global float* lefts, __global float* rights) {
    const uint i = get_global_id(0);
    lefts[i] = pairs[i].x;
    rights[i] = pairs[i].y;
}

// What is wrong and what is not:
// 1: a result, 2: results outside of the range, 3: results that are not compared,
// 4: beyond the end of what is not compared, 5: a prepared input, 6: nothing is written
__kernel void ranks(const uint n, __global const uint* keys, __global const uint* below,
                    __global const float2* pairs, __global const float* lefts,
                    __global float* rights, __global uint* y, __global float* work) {
    const uint i = get_global_id(0);
    // What is not in the buffers that belong together would be an access out of bounds.
    const uint first = below[keys[i]];
    work[i] = rights[first] + (V == 3 ? 5 : 0);
    rights[i] = pairs[i].x + rights[i] + (V == 1 && i == n / 2 ? 1 : 0);
    if (V != 6 || i != 7) y[4 + i] = 2 * first;
    if (i < 4) y[i] = V == 2 ? 17 * i : 0;
    if (i < 4) y[n + 4 + i] = V == 2 ? 1 : 0;
    if (V == 4 && i == 0) work[n] = 1;
    if (V == 5 && i == 0) ((__global uint*)below)[0] = 1;
}

// The same in two launches, with other arguments.
__kernel void first_of_equals(__global const uint* keys, __global const uint* below,
                              __global uint* firsts, __local uint* of_group) {
    of_group[get_local_id(0)] = below[keys[get_global_id(0)]];
    barrier(CLK_LOCAL_MEM_FENCE);
    firsts[get_global_id(0)] = of_group[get_local_id(0)];
}

__kernel void doubled(const uint times, __global const uint* firsts, __global const float* lefts,
                      __global float* rights, __global uint* y) {
    const uint i = get_global_id(0);
    y[4 + i] = times * firsts[i];
    rights[i] += lefts[i];
}
