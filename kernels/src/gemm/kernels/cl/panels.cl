// C <- alpha A B + beta C from panels, for CPUs: each work-item keeps a tile of MR x NR sums in vector
// registers and reads both operands in the order in which they lie in memory (the micro-kernel of
// Goto & van de Geijn 2008).
//
// A is in panels of PANEL_M rows: element (row i, column p) at ((i / PANEL_M) * k + p) * PANEL_M + i % PANEL_M;
// B in panels of PANEL_N columns, likewise. Both are filled up with zeros to whole tiles.
//
//   MR, NR   the tile of a work-item
//   VW       the vector width along n
//   UNROLL   of the loop over k
//   ORDER    whether successive work-groups share a panel of A (0) or of B (1)
//   EPILOGUE see epilogue.cl

#include "types.cl"
#include "epilogue.cl"

#define VECTORS (NR / VW)
#define IN_PANEL (PANEL_N / VW)
typedef EXPAND(REAL, VW) vector;
#define READ_BIASES(at) EXPAND(vload, VW)(0, at)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_panels(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                 __global const REAL* restrict a, __global const REAL* restrict b,
                 __global stored* restrict c, const int offset_c, const int ldc,
                 __global const stored* restrict bias) {
#if ORDER
    const int begin_m = get_group_id(0) * MR;
    const int begin_n = get_group_id(1) * NR;
#else
    const int begin_m = get_group_id(1) * MR;
    const int begin_n = get_group_id(0) * NR;
#endif
    a += (size_t)begin_m * k;
    b += (size_t)begin_n * k;

    vector sums[MR][VECTORS];
    #pragma unroll
    for (int i = 0; i < MR; i++) {
        #pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            sums[i][v] = 0;
        }
    }
    #pragma unroll UNROLL
    for (int p = 0; p < k; p++) {
        vector of_b[VECTORS];
        #pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            of_b[v] = EXPAND(vload, VW)(0, b + ((size_t)(v / IN_PANEL) * k + p) * PANEL_N + v % IN_PANEL * VW);
        }
        #pragma unroll
        for (int i = 0; i < MR; i++) {
            const vector of_a = (vector)(a[((size_t)(i / PANEL_M) * k + p) * PANEL_M + i % PANEL_M]);
            #pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                sums[i][v] = fma(of_a, of_b[v], sums[i][v]);
            }
        }
    }

    const size_t step_c = ldc ? ldc : n;
    c += offset_c + begin_m * step_c + begin_n;
#ifndef C_HALF
    if (begin_m + MR <= m && begin_n + NR <= n) {
        #pragma unroll
        for (int i = 0; i < MR; i++) {
            #pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                __global stored* at = c + i * step_c + v * VW;
                vector value = alpha * sums[i][v];
                if (beta != 0) {
                    value += beta * EXPAND(vload, VW)(0, at);
                }
                FINISH(vector, value, BIAS(READ_BIASES, begin_m + i, begin_n + v * VW))
                EXPAND(vstore, VW)(value, 0, at);
            }
        }
        return;
    }
#endif
    // A tile at the edge: its sums go through memory, since registers cannot be indexed.
    REAL tile[MR * NR];
    #pragma unroll
    for (int i = 0; i < MR; i++) {
        #pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            EXPAND(vstore, VW)(sums[i][v], 0, tile + i * NR + v * VW);
        }
    }
    for (int i = 0; i < min(MR, m - begin_m); i++) {
        for (int j = 0; j < min(NR, n - begin_n); j++) {
            const REAL of_bias = BIAS(READ_C, begin_m + i, begin_n + j);
            write_element(c + i * step_c + j, tile[i * NR + j], alpha, beta, of_bias);
        }
    }
}
