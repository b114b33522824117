// C <- alpha A B + beta C with sums in parts (parts.cl), each as pipelined.cl computes it.
#include "parts.cl"

#define offset_a (first_a + BEGIN_K * step_a)
#define offset_b (first_b + BEGIN_K * step_b)
#define gemm_pipelined(...) \
    gemm_part(const int m, const int n, const int whole_k, \
              __global const REAL* restrict a, const int first_a, const int lda, \
              __global const REAL* restrict b, const int first_b, const int ldb, __global REAL* restrict c)
#include "pipelined.cl"
