// A work-group computes a tile of TILE x TILE results, through two tiles in local memory; each
// work-item computes WPT results of a column.
#define ROWS (TILE / WPT)

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void matmul(const uint n, const uint k, __global const float* a, __global const float* b,
            __global float* c) {
    __local float a_tile[TILE][TILE];
    __local float b_tile[TILE][TILE];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const uint x = get_group_id(0) * TILE + lx, y = get_group_id(1) * TILE + ly;
    float sums[WPT];
    for (uint p = 0; p < WPT; p++) sums[p] = 0.0f;
    for (uint first = 0; first < k; first += TILE) {
        for (uint p = 0; p < WPT; p++) {
            const uint row = p * ROWS;
            a_tile[ly + row][lx] = a[(y + row) * k + first + lx];
            b_tile[ly + row][lx] = b[(first + ly + row) * n + x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++) {
            const float right = b_tile[i][lx];
            for (uint p = 0; p < WPT; p++) sums[p] += a_tile[ly + p * ROWS][i] * right;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint p = 0; p < WPT; p++) c[(y + p * ROWS) * n + x] = sums[p];
}
