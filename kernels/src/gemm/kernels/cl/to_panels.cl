// Copies a matrix into panels of PANEL rows, for CPUs: element (row i, column p) goes to
// ((i / PANEL) * k + p) * PANEL + i % PANEL. What lies behind the last row, up to `padded` rows, becomes 0.
//
// The matrix has its elements at i * lda + p, or at p * lda + i where `transposed` is 1; an `lda` of 0
// means that rows follow each other.
//
//   TILE_R, TILE_K   the rows and columns that a work-item copies, in the order of the addresses that it writes to
//   PANEL            known when the kernel is built, so that loops become vectors

#include "source.cl"

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_to_panels(const int rows, const int k, const int padded, const int transposed,
                    __global const source* restrict a, const int offset_a, const int lda,
                    __global REAL* restrict packed) {
    const int begin_r = get_group_id(0) * TILE_R, end_r = min(begin_r + TILE_R, padded);
    const int begin_k = get_group_id(1) * TILE_K, end_k = min(begin_k + TILE_K, k);
    const size_t step = lda ? lda : transposed ? rows : k;
    a += offset_a;

    for (int r = begin_r; r < end_r; r += PANEL) {
        __global REAL* to = packed + (size_t)r * k;
        if (r + PANEL > rows) {
            for (int p = begin_k; p < end_k; p++) {
                for (int i = 0; i < PANEL; i++) {
                    const size_t from = transposed ? p * step + r + i : (r + i) * step + p;
                    to[(size_t)p * PANEL + i] = r + i < rows ? READ_SOURCE(a + from) : 0;
                }
            }
        } else if (transposed) {
            for (int p = begin_k; p < end_k; p++) {
                #pragma unroll
                for (int i = 0; i < PANEL; i++) {
                    to[(size_t)p * PANEL + i] = READ_SOURCE(a + p * step + r + i);
                }
            }
        } else {
            for (int p = begin_k; p < end_k; p++) {
                #pragma unroll
                for (int i = 0; i < PANEL; i++) {
                    to[(size_t)p * PANEL + i] = READ_SOURCE(a + (r + i) * step + p);
                }
            }
        }
    }
}
