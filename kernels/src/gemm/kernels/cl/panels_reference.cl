// What panels.cl computes, one element for each work-item.
#include "types.cl"
#include "epilogue.cl"

__kernel void gemm_reference(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                             __global const REAL* restrict a, __global const REAL* restrict b,
                             __global stored* restrict c, const int offset_c, const int ldc,
                             __global const stored* restrict bias) {
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    REAL sum = 0;
    for (int p = 0; p < k; p++) {
        sum = fma(a[(row / PANEL_M * k + p) * PANEL_M + row % PANEL_M],
                  b[(column / PANEL_N * k + p) * PANEL_N + column % PANEL_N], sum);
    }
    const REAL of_bias = BIAS(READ_C, row, column);
    write_element(c + offset_c + row * (ldc ? ldc : n) + column, sum, alpha, beta, of_bias);
}
