// A work-group computes WG * WPT results, and shares what it reads of x through local memory.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void conv1d(__global const float* x, __global const float* w, __global float* y) {
    __local float tile[WG * WPT + MASK - 1];
    const uint first = get_group_id(0) * WG * WPT, l = get_local_id(0);
    for (uint i = l; i < WG * WPT + MASK - 1; i += WG) tile[i] = x[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sums[WPT];
    for (uint p = 0; p < WPT; p++) sums[p] = 0.0f;
    for (uint k = 0; k < MASK; k++) {
        const float weight = w[k];
        for (uint p = 0; p < WPT; p++) sums[p] += weight * tile[p * WG + l + k];
    }
    for (uint p = 0; p < WPT; p++) y[first + p * WG + l] = sums[p];
}
