// A plate of n x n points: a step of the heat that spreads, and the source that feeds a corner.

__kernel void spread(const uint n, __global const float* a, __global float* b) {
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    const uint left = x == 0 ? x : x - 1;
    const uint right = x == n - 1 ? x : x + 1;
    const uint above = y == 0 ? y : y - 1;
    const uint below = y == n - 1 ? y : y + 1;
    b[y * n + x] = 0.25f * (a[y * n + left] + a[y * n + right] + a[above * n + x] + a[below * n + x]);
}

__kernel void feed(const uint n, const float heat, __global float* a) {
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    a[y * n + x] += heat;
}
