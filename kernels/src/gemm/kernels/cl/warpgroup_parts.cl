// C <- alpha A B + beta C with sums in parts (parts.cl), each as warpgroup.cl computes it.
#define REAL float
#define REAL_SIZE 4
#include "parts.cl"

#define lda (step_of_a ? step_of_a : whole_k)
#define offset_a (first_a + BEGIN_K)
#if B_OF_K
#define ldb (step_of_b ? step_of_b : whole_k)
#define offset_b (first_b + BEGIN_K)
#else
#define ldb step_of_b
#define offset_b (first_b + BEGIN_K * step_b)
#endif
#define gemm_warpgroup(...) \
    gemm_part(const int m, const int n, const int whole_k, \
              __global const REAL* restrict a, const int first_a, const int step_of_a, \
              __global const REAL* restrict b, const int first_b, const int step_of_b, \
              __global REAL* restrict c, __global const REAL* restrict bias)
#include "warpgroup.cl"
