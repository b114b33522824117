// What to_panels.cl does, one element for each work-item.
#include "source.cl"

__kernel void gemm_to_panels_reference(const int rows, const int k, const int padded,
                                       const int transposed, __global const source* restrict a,
                                       const int offset_a, const int lda, __global REAL* restrict packed) {
    const size_t r = get_global_id(0);
    const size_t p = get_global_id(1);
    const size_t step = lda ? lda : transposed ? rows : k;
    const size_t from = transposed ? p * step + r : r * step + p;
    packed[(r / PANEL * k + p) * PANEL + r % PANEL] = r < rows ? READ_SOURCE(a + offset_a + from) : 0;
}
