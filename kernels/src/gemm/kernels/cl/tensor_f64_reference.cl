// What tensor_f64.cl computes, one element for each work-item.
#define READ_C(at) (*(at))
#include "epilogue.cl"

__kernel void gemm_reference(const int m, const int n, const int k, const double alpha, const double beta,
                             __global const double* restrict a, const int offset_a, const int lda,
                             const int a_of_k,
                             __global const double* restrict b, const int offset_b, const int ldb,
                             const int b_of_k,
                             __global double* restrict c, const int offset_c, const int ldc,
                             __global const double* restrict bias) {
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    const size_t step_a = lda ? lda : a_of_k ? k : m;
    const size_t step_b = ldb ? ldb : b_of_k ? k : n;
    __global double* at = c + offset_c + row * (ldc ? ldc : n) + column;
    a += offset_a + row * (a_of_k ? step_a : 1);
    b += offset_b + column * (b_of_k ? step_b : 1);
    double sum = 0;
    for (int i = 0; i < k; i++) {
        sum = fma(a[i * (a_of_k ? 1 : step_a)], b[i * (b_of_k ? 1 : step_b)], sum);
    }
    double value = alpha * sum + (beta == 0 ? 0 : beta * *at);
    FINISH(double, value, BIAS(READ_C, row, column))
    *at = value;
}
