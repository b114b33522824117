// Tiles are as large as the work-group, which is square: WGX == WGY. The attribute lets the compiler plan
// registers for it.
__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1)))
void matmul(const uint n, __global const float* a, __global const float* b, __global float* c) {
    __local float a_tile[WGY][WGX];
    __local float b_tile[WGY][WGX];
    const uint x = get_global_id(0), y = get_global_id(1);
    const uint lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (uint first = 0; first < n; first += WGX) {
        a_tile[ly][lx] = a[y * n + first + lx];
        b_tile[ly][lx] = b[(first + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < WGX; k++) sum += a_tile[ly][k] * b_tile[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

__kernel void matmul_reference(const uint n, __global const float* a, __global const float* b,
                               __global float* c) {
    const uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (uint k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
