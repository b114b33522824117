// What batched.cl computes, one element for each work-item.
#include "types.cl"

#ifdef C_HALF
#define READ(at) vload_half(0, at)
#else
#define READ(at) (*(at))
#endif

__kernel void gemm_batched_reference(
    const int m, const int n, const int k, const int count, const REAL alpha, const REAL beta,
    __global const stored* restrict a, const int offset_a, const int lda, const int stride_a,
    __global const stored* restrict b, const int offset_b, const int ldb, const int stride_b,
    __global stored* restrict c, const int offset_c, const int ldc, const int stride_c) {
    const size_t item = get_global_id(0);
    const size_t column = item % n;
    const size_t row = item / n % m;
    const size_t product = item / n / m;
    const size_t step_a = lda ? lda : TRANS_A ? m : k;
    const size_t step_b = ldb ? ldb : TRANS_B ? k : n;
    const size_t next_a = stride_a < 0 ? m * (size_t)k : stride_a;
    const size_t next_b = stride_b < 0 ? k * (size_t)n : stride_b;
    const size_t next_c = stride_c < 0 ? m * (size_t)n : stride_c;
    a += offset_a + product * next_a;
    b += offset_b + product * next_b;
    REAL sum = 0;
    for (int p = 0; p < k; p++) {
        const REAL x = READ(a + (TRANS_A ? p * step_a + row : row * step_a + p));
        const REAL y = READ(b + (TRANS_B ? column * step_b + p : p * step_b + column));
        sum = fma(x, y, sum);
    }
    update(c + offset_c + product * next_c + row * (ldc ? ldc : n) + column, sum, alpha, beta);
}
