// C <- A B, one element for each work-item; see classic.cl for how the matrices are stored.
__kernel void gemm_reference(const int m, const int n, const int k,
                             __global const float* restrict a,
                             __global const float* restrict b,
                             __global float* restrict c) {
    const size_t row = get_global_id(0);
    const size_t column = get_global_id(1);
    float sum = 0.0f;
    for (size_t i = 0; i < k; i++) {
        sum = mad(a[i * m + row], b[i * n + column], sum);
    }
    c[column * m + row] = sum;
}
