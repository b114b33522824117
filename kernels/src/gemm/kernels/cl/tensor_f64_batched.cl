// C <- alpha op(A) op(B) + beta C for many products, each as tensor_f64.cl computes it; matrices lie as
// batched.cl says.
#define A_OF_K (!TRANS_A)
#define B_OF_K TRANS_B
#define EPILOGUE 0
// Tiles of small products need no order for the sake of caches.
#define SWIZZLE 1

inline size_t group_of_batch() {
    return get_group_id(0);
}
#define TILES_OF_PRODUCT (tiles_m * tiles_n)
#define PRODUCT (group_of_batch() / TILES_OF_PRODUCT)
#define get_group_id(dimension) (group_of_batch() % TILES_OF_PRODUCT)
#define offset_a (first_a + PRODUCT * (stride_a < 0 ? m * (size_t)k : stride_a))
#define offset_b (first_b + PRODUCT * (stride_b < 0 ? k * (size_t)n : stride_b))
#define offset_c (first_c + PRODUCT * (stride_c < 0 ? m * (size_t)n : stride_c))
#define gemm_tensor_f64(...) \
    gemm_batched_tensor(const int m, const int n, const int k, const int count, const double alpha, \
                        const double beta, \
                        __global const double* restrict a, const int first_a, const int lda, \
                        const int stride_a, \
                        __global const double* restrict b, const int first_b, const int ldb, \
                        const int stride_b, \
                        __global double* restrict c, const int first_c, const int ldc, const int stride_c)
#include "tensor_f64.cl"
