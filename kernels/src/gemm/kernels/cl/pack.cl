// Copies a matrix into panels: element (row i, column p) goes to ((i / panel) * k + p) * panel + i % panel.
// One panel as wide as the matrix is its transpose. What lies behind the last row, up to `padded`
// rows, becomes 0.
//
// The matrix has its elements at i * lda + p, or at p * lda + i where `transposed` is 1; an `lda` of 0
// means that rows follow each other.
//
//   TILE_R, TILE_K   the rows and columns that a work-group copies
//   DIM_R, DIM_K     its work-items
//   LOCAL            whether they go through local memory, so that both sides are read and written
//                    in the order of their addresses

#include "types.cl"

#ifdef A_HALF
typedef half source;
#define READ_SOURCE(at) vload_half(0, at)
#else
typedef REAL source;
#define READ_SOURCE(at) (*(at))
#endif

#define ITEMS (DIM_R * DIM_K)

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_pack(const int rows, const int k, const int padded, const int panel, const int transposed,
               __global const source* restrict a, const int offset_a, const int lda,
               __global REAL* restrict packed) {
    const int item = get_local_id(0);
    const int begin_r = get_group_id(0) * TILE_R;
    const int begin_k = get_group_id(1) * TILE_K;
    const size_t step = lda ? lda : transposed ? rows : k;
    a += offset_a;

#define READ_AT(r, p) \
    ((r) < rows && (p) < k ? READ_SOURCE(a + (transposed ? (p) * step + (r) : (r) * step + (p))) : 0)
#define PACKED_AT(r, p) (((size_t)((r) / panel) * k + (p)) * panel + (r) % panel)

#if LOCAL
    // The odd distance keeps rows out of each other's memory banks.
    __local REAL tile[TILE_K][TILE_R + 1];
    if (transposed) {
        for (int e = item; e < TILE_R * TILE_K; e += ITEMS) {
            const int r = e % TILE_R, p = e / TILE_R;
            tile[p][r] = READ_AT(begin_r + r, begin_k + p);
        }
    } else {
        for (int e = item; e < TILE_R * TILE_K; e += ITEMS) {
            const int p = e % TILE_K, r = e / TILE_K;
            tile[p][r] = READ_AT(begin_r + r, begin_k + p);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #define VALUE(r, p) tile[p][r]
#else
    #define VALUE(r, p) READ_AT(begin_r + (r), begin_k + (p))
#endif
    for (int p = item / DIM_R; p < TILE_K; p += DIM_K) {
        for (int r = item % DIM_R; r < TILE_R; r += DIM_R) {
            if (begin_r + r < padded && begin_k + p < k) {
                packed[PACKED_AT(begin_r + r, begin_k + p)] = VALUE(r, p);
            }
        }
    }
}
