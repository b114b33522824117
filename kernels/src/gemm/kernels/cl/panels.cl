// C <- alpha A B + beta C from panels, for CPUs: operands are read in the order in which they lie in memory.
//
// A is in panels of PANEL_M rows: element (row i, column p) at ((i / PANEL_M) * k + p) * PANEL_M + i % PANEL_M;
// B in panels of PANEL_N columns, likewise. Both are filled up with zeros to whole tiles.
//
//   MR, NR             the tile whose sums are in registers at a time
//   VW                 the vector width along n
//   TILES_M, TILES_N   the tiles of a work-group
//   KWG                the part of k that is added to all of them before the next is
//   EPILOGUE           see epilogue.cl

#include "types.cl"
#include "epilogue.cl"

#define ROWS (TILES_M * MR)
#define COLUMNS (TILES_N * NR)
#include "tiles_in_vectors.cl"

#define IN_PANEL (PANEL_N / VW)
#define ADD_PRODUCTS add_products
#define OPERANDS const int k, __global const REAL* a, __global const REAL* b
#define OF_A(i, p) a[((size_t)((i) / PANEL_M) * k + (p)) * PANEL_M + (i) % PANEL_M]
#define OF_B(p, v) READ_VECTOR_AT(b + ((size_t)((v) / IN_PANEL) * k + (p)) * PANEL_N + (v) % IN_PANEL * VW)
#include "products_in_vectors.cl"

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_panels(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                 __global const REAL* restrict a, __global const REAL* restrict b,
                 __global stored* restrict c, const int offset_c, const int ldc,
                 __global const stored* restrict bias) {
    const int begin_m = get_group_id(0) * ROWS, rows = min(ROWS, m - begin_m);
    const int begin_n = get_group_id(1) * COLUMNS, columns = min(COLUMNS, n - begin_n);
    __local REAL sums[ROWS * COLUMNS] __attribute__((aligned(64)));

    for (int begin_k = 0; begin_k < k; begin_k += KWG) {
        // A tile of B stays in the cache nearest to the core, and the group's rows of A in the next.
        for (int j = 0; j < columns; j += NR) {
            for (int i = 0; i < rows; i += MR) {
                add_products(min(KWG, k - begin_k), k, a + (size_t)(begin_m + i) * k + (size_t)begin_k * PANEL_M,
                             b + (size_t)(begin_n + j) * k + (size_t)begin_k * PANEL_N, sums + i * COLUMNS + j, begin_k == 0);
            }
        }
    }
    write_sums(rows, columns, sums, alpha, beta, c + offset_c, ldc ? ldc : n, begin_m, begin_n, bias);
}
