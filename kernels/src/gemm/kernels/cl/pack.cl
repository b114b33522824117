// Copies a matrix in lines of k: element (row i, column p) goes to p * padded + i. What lies behind the last row, up
// to `padded` rows, becomes 0.
//
// The matrix has its elements at i * lda + p, or at p * lda + i where `transposed` is 1; an `lda` of 0
// means that rows follow each other.
//
//   TILE_R, TILE_K   the rows and columns that a work-group copies
//   DIM_R, DIM_K     its work-items
//   LOCAL            whether they go through local memory, so that both sides are read and written
//                    in the order of their addresses

#include "source.cl"

#define ITEMS (DIM_R * DIM_K)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_pack(const int rows, const int k, const int padded, const int transposed,
               __global const source* restrict a, const int offset_a, const int lda,
               __global REAL* restrict packed) {
    const int item = get_local_id(0);
    const int begin_r = get_group_id(0) * TILE_R;
    const int begin_k = get_group_id(1) * TILE_K;
    const size_t step = lda ? lda : transposed ? rows : k;
    a += offset_a;

#define READ_AT(r, p) \
    ((r) < rows && (p) < k ? READ_SOURCE(a + (transposed ? (p) * step + (r) : (r) * step + (p))) : 0)

#if LOCAL
    // The odd distance keeps rows out of each other's memory banks.
    __local REAL tile[TILE_K][TILE_R + 1];
    if (transposed) {
        for (int i = 0; i < TILE_R * TILE_K / ITEMS; i++) {
            const int e = i * ITEMS + item;
            const int r = e % TILE_R, p = e / TILE_R;
            tile[p][r] = READ_AT(begin_r + r, begin_k + p);
        }
    } else {
        for (int i = 0; i < TILE_R * TILE_K / ITEMS; i++) {
            const int e = i * ITEMS + item;
            const int p = e % TILE_K, r = e / TILE_K;
            tile[p][r] = READ_AT(begin_r + r, begin_k + p);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #define VALUE(r, p) tile[p][r]
#else
    #define VALUE(r, p) READ_AT(begin_r + (r), begin_k + (p))
#endif
    for (int y = 0; y < TILE_K / DIM_K; y++) {
        for (int x = 0; x < TILE_R / DIM_R; x++) {
            const int p = y * DIM_K + item / DIM_R, r = x * DIM_R + item % DIM_R;
            if (begin_r + r < padded && begin_k + p < k) {
                packed[(size_t)(begin_k + p) * padded + begin_r + r] = VALUE(r, p);
            }
        }
    }
}
