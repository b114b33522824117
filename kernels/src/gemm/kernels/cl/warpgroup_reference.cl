// What warpgroup.cl computes, one element for each work-item.
#define REAL float
#define REAL_SIZE 4
#include "types.cl"
#include "epilogue.cl"

__kernel void gemm_reference(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                             __global const REAL* restrict a, const int offset_a, const int lda,
                             __global const REAL* restrict b, const int offset_b, const int ldb,
                             __global stored* restrict c, const int offset_c, const int ldc,
                             __global const stored* restrict bias) {
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    const size_t step_a = lda ? lda : k;
    const size_t step_b = ldb ? ldb : B_OF_K ? k : n;
    const size_t begin_b = offset_b + column * (B_OF_K ? step_b : 1);
    const size_t step_c = ldc ? ldc : n;
    REAL sum = 0;
    for (int i = 0; i < k; i++) {
        sum = fma(a[offset_a + row * step_a + i], b[begin_b + i * (B_OF_K ? 1 : step_b)], sum);
    }
    const REAL of_bias = BIAS(READ_C, row, column);
    write_element(c + offset_c + row * step_c + column, sum, alpha, beta, of_bias);
}
