// gemm_direct for CPUs: one work-item computes what MDIMC x NDIMC do elsewhere, one tile after the other. A slice of B is
// copied to local memory, where each tile of it is in order. A that lies by rows is read as it lies. Otherwise, where the
// next element of a row is in another line of the cache, the rows of a tile are copied as well; in half precision they
// always are, so that each element is converted once. Rows of A beyond its last are read from that one, and not written.

#define MR MWI
#define NR NWI
#define VW VECTORS
#define ROWS MWG
#define COLUMNS NWG
#include "tiles_in_vectors.cl"

#define OF_B(p, v) READ_VECTOR_AT(b + (p) * NR + (v) * VW)
#ifdef C_HALF
#define COPIES_A true
#else
#define COPIES_A trans_a
#define ADD_PRODUCTS add_products
#define OPERANDS __global const stored* const* rows, __local const REAL* b
#define OF_A(i, p) rows[i][p]
#include "products_in_vectors.cl"
#endif
#define ADD_PRODUCTS add_products_of_copies
#define OPERANDS __local const REAL* a, __local const REAL* b
#define OF_A(i, p) a[(p) * MR + (i)]
#include "products_in_vectors.cl"

// Copies elements to a slice from a row of B, of which each tile is KWG rows of NR.
inline void copy_row(__local REAL* slice, __global const stored* row, const int columns) {
    const int whole = columns / NR * NR;
    for (int j = 0; j < whole; j += NR) {
#ifdef C_HALF
        for (int i = 0; i < NR; i++) {
            slice[j * KWG + i] = READ(row + j + i);
        }
#else
        #pragma unroll
        for (int v = 0; v < NR / VW; v++) {
            WRITE_VECTOR_AT(READ_VECTOR_AT(row + j + v * VW), slice + j * KWG + v * VW);
        }
#endif
    }
    for (int j = whole; j < columns || j % NR; j++) {
        slice[whole * KWG + j - whole] = j < columns ? READ(row + j) : 0;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_direct(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                 __global const stored* restrict a, const int offset_a, const int lda, const int trans_a,
                 __global const stored* restrict b, const int offset_b, const int ldb, const int trans_b,
                 __global stored* restrict c, const int offset_c, const int ldc,
                 __global const stored* restrict bias) {
    const int begin_n = get_group_id(0) * NWG, columns = min(NWG, n - begin_n);
    const int begin_m = get_group_id(1) * MWG, rows = min(MWG, m - begin_m);
    const size_t step_a = lda ? lda : trans_a ? m : k;
    const size_t step_b = ldb ? ldb : trans_b ? k : n;
    const size_t next_row = trans_a ? 1 : step_a, next_of_a = trans_a ? step_a : 1;
    __local REAL sums[MWG * NWG] __attribute__((aligned(64)));
    __local REAL slice[KWG * NWG] __attribute__((aligned(64)));
    __local REAL copied[KWG * MR];
    a += offset_a;
    b += offset_b;

    for (int begin_k = 0; begin_k < k; begin_k += KWG) {
        const int depth = min(KWG, k - begin_k);
        if (trans_b) {
            for (int j = 0; j < columns || j % NR; j++) {
                __global const stored* column = b + (begin_n + min(j, columns - 1)) * step_b + begin_k;
                __local REAL* to = slice + j / NR * NR * KWG + j % NR;
                for (int p = 0; p < depth; p++) {
                    to[p * NR] = READ(column + p);
                }
            }
        } else {
            for (int p = 0; p < depth; p++) {
                copy_row(slice + p * NR, b + (begin_k + p) * step_b + begin_n, columns);
            }
        }
        // Rows of A stay in the cache nearest to the core, and the slice in the next.
        for (int i = 0; i < rows; i += MR) {
            __global const stored* of_a[MR];
            #pragma unroll
            for (int r = 0; r < MR; r++) {
                of_a[r] = a + min(begin_m + i + r, m - 1) * next_row + begin_k * next_of_a;
            }
            if (COPIES_A) {
                for (int p = 0; p < depth; p++) {
                    #pragma unroll
                    for (int r = 0; r < MR; r++) {
                        copied[p * MR + r] = READ(of_a[r] + p * next_of_a);
                    }
                }
            }
            for (int j = 0; j < columns; j += NR) {
                __local const REAL* of_b = slice + j * KWG;
                __local REAL* to = sums + i * NWG + j;
                if (COPIES_A) {
                    add_products_of_copies(depth, copied, of_b, to, begin_k == 0);
                }
#ifndef C_HALF
                else {
                    add_products(depth, of_a, of_b, to, begin_k == 0);
                }
#endif
            }
        }
    }
    write_sums(rows, columns, sums, alpha, beta, c + offset_c, ldc ? ldc : n, begin_m, begin_n, bias);
}
