// What direct.cl computes, one element for each work-item.
#include "types.cl"
#include "epilogue.cl"

#ifdef C_HALF
#define READ(at) vload_half(0, at)
#else
#define READ(at) (*(at))
#endif

__kernel void gemm_reference(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                             __global const stored* restrict a, const int offset_a, const int lda,
                             const int trans_a, __global const stored* restrict b, const int offset_b,
                             const int ldb, const int trans_b,
                             __global stored* restrict c, const int offset_c, const int ldc,
                             __global const stored* restrict bias) {
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    const size_t step_a = lda ? lda : trans_a ? m : k;
    const size_t step_b = ldb ? ldb : trans_b ? k : n;
    REAL sum = 0;
    for (int p = 0; p < k; p++) {
        const REAL x = READ(a + offset_a + (trans_a ? p * step_a + row : row * step_a + p));
        const REAL y = READ(b + offset_b + (trans_b ? column * step_b + p : p * step_b + column));
        sum = fma(x, y, sum);
    }
    const REAL of_bias = BIAS(READ_C, row, column);
    write_element(c + offset_c + row * (ldc ? ldc : n) + column, sum, alpha, beta, of_bias);
}
