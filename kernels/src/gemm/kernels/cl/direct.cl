// C <- alpha op(A) op(B) + beta C for small matrices: nothing is packed, every access is checked.
//
// op(A) has m rows and k columns. A has its elements at i * lda + p, or at p * lda + i where `trans_a`
// is 1; B at p * ldb + j, or at j * ldb + p. 0 for a distance means that rows follow each other.
//
//   MWG, NWG, KWG   the tile of a work-group
//   MDIMC, NDIMC    its work-items
//   LOCAL           whether tiles are copied to local memory
//   VECTORS         the width of vectors of sums, for CPUs: direct_vectors.cl; 0 of none
//   EPILOGUE        see epilogue.cl

#include "types.cl"
#include "epilogue.cl"

#ifdef C_HALF
#define READ(at) vload_half(0, at)
#else
#define READ(at) (*(at))
#endif
#define ITEMS (MDIMC * NDIMC)
#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)

#if VECTORS
#include "direct_vectors.cl"
#else
__kernel __attribute__((reqd_work_group_size(NDIMC, MDIMC, 1)))
void gemm_direct(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                 __global const stored* restrict a, const int offset_a, const int lda, const int trans_a,
                 __global const stored* restrict b, const int offset_b, const int ldb, const int trans_b,
                 __global stored* restrict c, const int offset_c, const int ldc,
                 __global const stored* restrict bias) {
    const int item_n = get_local_id(0);
    const int item_m = get_local_id(1);
    const int begin_n = get_group_id(0) * NWG;
    const int begin_m = get_group_id(1) * MWG;
    const size_t step_a = lda ? lda : trans_a ? m : k;
    const size_t step_b = ldb ? ldb : trans_b ? k : n;
    const size_t step_c = ldc ? ldc : n;
    a += offset_a;
    b += offset_b;

#define A_AT(i, p) \
    ((i) < m && (p) < k ? READ(a + (trans_a ? (p) * step_a + (i) : (i) * step_a + (p))) : 0)
#define B_AT(p, j) \
    ((j) < n && (p) < k ? READ(b + (trans_b ? (j) * step_b + (p) : (p) * step_b + (j))) : 0)

    REAL sums[MWI][NWI];
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        #pragma unroll
        for (int j = 0; j < NWI; j++) {
            sums[i][j] = 0;
        }
    }
#if LOCAL
    const int item = item_m * NDIMC + item_n;
    // The odd distances keep rows out of each other's memory banks.
    __local REAL tile_a[KWG][MWG + 1], tile_b[KWG][NWG + 1];
#endif
    for (int begin_k = 0; begin_k < k; begin_k += KWG) {
#if LOCAL
        // Neighbours read neighbours, whichever way the matrix lies.
        for (int e = item; e < MWG * KWG; e += ITEMS) {
            const int i = trans_a ? e % MWG : e / KWG;
            const int p = trans_a ? e / MWG : e % KWG;
            tile_a[p][i] = A_AT(begin_m + i, begin_k + p);
        }
        for (int e = item; e < NWG * KWG; e += ITEMS) {
            const int j = trans_b ? e / KWG : e % NWG;
            const int p = trans_b ? e % KWG : e / NWG;
            tile_b[p][j] = B_AT(begin_k + p, begin_n + j);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#define OF_A(i, p) tile_a[p][i]
#define OF_B(p, j) tile_b[p][j]
#else
#define OF_A(i, p) A_AT(begin_m + (i), begin_k + (p))
#define OF_B(p, j) B_AT(begin_k + (p), begin_n + (j))
#endif
        for (int p = 0; p < KWG; p++) {
            REAL of_a[MWI], of_b[NWI];
            #pragma unroll
            for (int i = 0; i < MWI; i++) {
                of_a[i] = OF_A(i * MDIMC + item_m, p);
            }
            #pragma unroll
            for (int j = 0; j < NWI; j++) {
                of_b[j] = OF_B(p, j * NDIMC + item_n);
            }
            #pragma unroll
            for (int i = 0; i < MWI; i++) {
                #pragma unroll
                for (int j = 0; j < NWI; j++) {
                    sums[i][j] = fma(of_a[i], of_b[j], sums[i][j]);
                }
            }
        }
#if LOCAL
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    c += offset_c;
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        const int row = begin_m + i * MDIMC + item_m;
        #pragma unroll
        for (int j = 0; j < NWI; j++) {
            const int column = begin_n + j * NDIMC + item_n;
            if (row < m && column < n) {
                const REAL of_bias = BIAS(READ_C, row, column);
                write_element(c + row * step_c + column, sums[i][j], alpha, beta, of_bias);
            }
        }
    }
}
#endif
