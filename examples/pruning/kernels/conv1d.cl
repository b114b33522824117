__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void conv1d(__global const float* x, __global const float* w, __global float* y) {
    // What the work-group needs of x: one element per work-item, and the mask's overhang.
    __local float tile[WG + MASK - 1];
    const uint first = get_group_id(0) * WG, l = get_local_id(0);
    for (uint i = l; i < WG + MASK - 1; i += WG) tile[i] = x[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (uint k = 0; k < MASK; k++) sum += w[k] * tile[l + k];
    y[first + l] = sum;
}

__kernel void conv1d_reference(__global const float* x, __global const float* w,
                               __global float* y) {
    const uint i = get_global_id(0);
    float sum = 0.0f;
    for (uint k = 0; k < MASK; k++) sum += w[k] * x[i + k];
    y[i] = sum;
}
