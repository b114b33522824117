// C <- alpha A B + beta C with sums in parts (parts.cl), each as tensor_f64.cl computes it.
#define REAL double
#define REAL_SIZE 8
#include "parts.cl"

// It has a function of its own of this name.
#undef write_element
#define write_element write_sum_of_part
#define lda (step_of_a ? step_of_a : A_OF_K ? whole_k : m)
#define ldb (step_of_b ? step_of_b : B_OF_K ? whole_k : n)
#define offset_a (first_a + BEGIN_K * (A_OF_K ? 1 : step_a))
#define offset_b (first_b + BEGIN_K * (B_OF_K ? 1 : step_b))
#define gemm_tensor_f64(...) \
    gemm_part(const int m, const int n, const int whole_k, \
              __global const double* restrict a, const int first_a, const int step_of_a, const int a_of_k, \
              __global const double* restrict b, const int first_b, const int step_of_b, const int b_of_k, \
              __global double* restrict c)
#include "tensor_f64.cl"
