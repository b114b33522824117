// What warpgroup_stored.cl computes, one element for each work-item.
#ifdef FACTORS_tf32
typedef float stored;
// Rounded to TF32, to nearest.
#define READ(at) as_float((as_uint(*(at)) + 0x1000u) & 0xffffe000u)
#define READ_C(at) (*(at))
#define WRITE_C(value, at) (*(at) = (value))
#else
#ifdef FACTORS_f16
typedef half stored;
#define READ(at) vload_half(0, at)
#define WRITE_C(value, at) vstore_half(value, 0, at)
#else
typedef ushort stored;
#define READ(at) as_float((uint)*(at) << 16)
#define WRITE_C(value, at) (*(at) = bfloat_of(value))
// To nearest, and to even between two.
inline ushort bfloat_of(float x) {
    const uint bits = as_uint(x);
    return isnan(x) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
#endif
#define READ_C(at) READ(at)
#endif
#include "epilogue.cl"

__kernel void gemm_reference(const int m, const int n, const int k, const float alpha, const float beta,
                             __global const stored* restrict a, const int offset_a, const int lda,
                             const int a_of_k,
                             __global const stored* restrict b, const int offset_b, const int ldb,
                             const int b_of_k,
                             __global stored* restrict c, const int offset_c, const int ldc,
                             __global const stored* restrict bias) {
    const size_t row = get_global_id(1);
    const size_t column = get_global_id(0);
    const size_t step_a = lda ? lda : a_of_k ? k : m;
    const size_t step_b = ldb ? ldb : b_of_k ? k : n;
    __global stored* at = c + offset_c + row * (ldc ? ldc : n) + column;
    a += offset_a + row * (a_of_k ? step_a : 1);
    b += offset_b + column * (b_of_k ? step_b : 1);
    float sum = 0;
    for (int i = 0; i < k; i++) {
        sum = fma(READ(a + i * (a_of_k ? 1 : step_a)), READ(b + i * (b_of_k ? 1 : step_b)), sum);
    }
    float value = alpha * sum;
    if (beta != 0) {
        value += beta * READ_C(at);
    }
    FINISH(float, value, BIAS(READ_C, row, column))
    WRITE_C(value, at);
}
