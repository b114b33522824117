// gemm_direct for CPUs: a work-item has MWI rows of NWI neighbours in vectors of 16, elements of A are multiplied
// with whole vectors, and a slice of B lies in local memory, where it is in order and stays in the cache of a
// core. A is read as it lies; rows beyond its last are read from that one, and not written.

typedef EXPAND(REAL, 16) vector;
#define READ_BIASES(at) vload16(0, at)

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
    const int row = begin_m + item_m * MWI, column = begin_n + item_n * NWI;
    const size_t step_a = lda ? lda : trans_a ? m : k;
    const size_t step_b = ldb ? ldb : trans_b ? k : n;
    const size_t step_c = ldc ? ldc : n;
    const size_t next_row = trans_a ? 1 : step_a, next_of_a = trans_a ? step_a : 1;
    b += offset_b;
    __local REAL tile_b[KWG * NWG] __attribute__((aligned(64)));

    vector sums[MWI][NWI / 16];
    __global const stored* rows[MWI];
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        rows[i] = a + offset_a + min(row + i, m - 1) * next_row;
        #pragma unroll
        for (int v = 0; v < NWI / 16; v++) {
            sums[i][v] = 0;
        }
    }
    for (int begin_k = 0; begin_k < k; begin_k += KWG) {
        const int depth = min(KWG, k - begin_k), width = min(NWG, n - begin_n);
        barrier(CLK_LOCAL_MEM_FENCE);
        // The branch is inside of the loop: PoCL 5.0 aborts the process where it holds the loop, between barriers.
        for (int p = item_m * NDIMC + item_n; p < depth; p += ITEMS) {
            if (trans_b) {
                for (int j = 0; j < NWG; j++) {
                    tile_b[p * NWG + j] = j < width ? READ(b + (begin_n + j) * step_b + begin_k + p) : 0;
                }
            } else {
                for (int j = 0; j < width; j++) {
                    tile_b[p * NWG + j] = READ(b + (begin_k + p) * step_b + begin_n + j);
                }
                for (int j = width; j < NWG; j++) {
                    tile_b[p * NWG + j] = 0;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 2
        for (int p = 0; p < depth; p++) {
            vector of_b[NWI / 16];
            #pragma unroll
            for (int v = 0; v < NWI / 16; v++) {
                of_b[v] = vload16(v, tile_b + p * NWG + item_n * NWI);
            }
            #pragma unroll
            for (int i = 0; i < MWI; i++) {
                const vector of_a = (vector)(READ(rows[i] + (begin_k + p) * next_of_a));
                #pragma unroll
                for (int v = 0; v < NWI / 16; v++) {
                    sums[i][v] = fma(of_a, of_b[v], sums[i][v]);
                }
            }
        }
    }

    c += offset_c;
#ifndef C_HALF
    if (row + MWI <= m && column + NWI <= n) {
        #pragma unroll
        for (int i = 0; i < MWI; i++) {
            #pragma unroll
            for (int v = 0; v < NWI / 16; v++) {
                __global stored* at = c + (row + i) * step_c + column + 16 * v;
                vector value = alpha * sums[i][v];
                if (beta != 0) {
                    value += beta * vload16(0, at);
                }
                FINISH(vector, value, BIAS(READ_BIASES, row + i, column + 16 * v))
                vstore16(value, 0, at);
            }
        }
        return;
    }
#endif
    // Elements one by one: through memory, since registers cannot be indexed.
    REAL tile[MWI * NWI];
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        #pragma unroll
        for (int v = 0; v < NWI / 16; v++) {
            vstore16(sums[i][v], v, tile + i * NWI);
        }
    }
    for (int i = 0; i < min(MWI, m - row); i++) {
        for (int j = 0; j < min(NWI, n - column); j++) {
            const REAL of_bias = BIAS(READ_C, row + i, column + j);
            write_element(c + (row + i) * step_c + column + j, tile[i * NWI + j], alpha, beta, of_bias);
        }
    }
}
