// C <- A B in single precision, tiled for work-groups, local memory and registers.
//
// A has K rows of M elements, B has K rows of N, C has N rows of M: A is transposed, in the terms of
// row-major storage. M, N and K are multiples of MWG, NWG and KWG.
//
//   MWG, NWG, KWG   the tile of a work-group
//   MDIMC, NDIMC    its work-items
//   MDIMA, NDIMB    how they are arranged while tiles are copied to local memory
//   KWI             how often the innermost loop over k is unrolled
//   VWM, VWN        the vector widths of A and C, and of B
//   STRM, STRN      whether a work-item's elements lie apart (coalesced) or side by side
//   SA, SB          whether tiles of A and of B are copied to local memory

#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)
#define MVEC (MWI / VWM)
#define NVEC (NWI / VWN)
#define KDIMA ((MDIMC * NDIMC) / MDIMA)
#define KDIMB ((MDIMC * NDIMC) / NDIMB)

#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)
#if VWM == 1
typedef float floatM;
#define LOAD_M(from) (*(from))
#define STORE_M(value, to) (*(to) = (value))
#else
typedef EXPAND(float, VWM) floatM;
#define LOAD_M(from) EXPAND(vload, VWM)(0, from)
#define STORE_M(value, to) EXPAND(vstore, VWM)(value, 0, to)
#endif
#if VWN == 1
typedef float floatN;
#define LOAD_N(from) (*(from))
#define STORE_N(value, to) (*(to) = (value))
#else
typedef EXPAND(float, VWN) floatN;
#define LOAD_N(from) EXPAND(vload, VWN)(0, from)
#define STORE_N(value, to) EXPAND(vstore, VWN)(value, 0, to)
#endif

// The first element, within the tile, of a work-item's vector number `v`.
#if STRM
#define M_AT(v) (((v) * MDIMC + item_m) * VWM)
#else
#define M_AT(v) ((item_m * MVEC + (v)) * VWM)
#endif
#if STRN
#define N_AT(v) (((v) * NDIMC + item_n) * VWN)
#else
#define N_AT(v) ((item_n * NVEC + (v)) * VWN)
#endif

__kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))
void gemm_classic(const int m, const int n, const int k,
                  __global const float* restrict a,
                  __global const float* restrict b,
                  __global float* restrict c) {
    const int item_m = get_local_id(0);
    const int item_n = get_local_id(1);
    a += get_group_id(0) * MWG;
    b += get_group_id(1) * NWG;
    c += (size_t)get_group_id(1) * NWG * m + get_group_id(0) * MWG;
#if SA
    __local float tile_a[KWG * MWG];
#endif
#if SB
    __local float tile_b[KWG * NWG];
#endif
#if SA || SB
    const int item = item_n * MDIMC + item_m;
#endif

    floatM sums[NWI][MVEC];
    #pragma unroll
    for (int j = 0; j < NWI; j++) {
        #pragma unroll
        for (int i = 0; i < MVEC; i++) {
            sums[j][i] = 0.0f;
        }
    }

    for (int tile = 0; tile < k; tile += KWG) {
#if SA
        #pragma unroll
        for (int row = item / MDIMA; row < KWG; row += KDIMA) {
            #pragma unroll
            for (int v = 0; v < MWG / (MDIMA * VWM); v++) {
                const int at = (v * MDIMA + item % MDIMA) * VWM;
                STORE_M(LOAD_M(a + (size_t)(tile + row) * m + at), tile_a + row * MWG + at);
            }
        }
#endif
#if SB
        #pragma unroll
        for (int row = item / NDIMB; row < KWG; row += KDIMB) {
            #pragma unroll
            for (int v = 0; v < NWG / (NDIMB * VWN); v++) {
                const int at = (v * NDIMB + item % NDIMB) * VWN;
                STORE_N(LOAD_N(b + (size_t)(tile + row) * n + at), tile_b + row * NWG + at);
            }
        }
#endif
#if SA || SB
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int block = 0; block < KWG; block += KWI) {
            #pragma unroll
            for (int step = 0; step < KWI; step++) {
                const int row = block + step;
                floatM of_a[MVEC];
                float of_b[NWI];
                #pragma unroll
                for (int v = 0; v < MVEC; v++) {
#if SA
                    of_a[v] = LOAD_M(tile_a + row * MWG + M_AT(v));
#else
                    of_a[v] = LOAD_M(a + (size_t)(tile + row) * m + M_AT(v));
#endif
                }
                #pragma unroll
                for (int v = 0; v < NVEC; v++) {
#if SB
                    const floatN values = LOAD_N(tile_b + row * NWG + N_AT(v));
#else
                    const floatN values = LOAD_N(b + (size_t)(tile + row) * n + N_AT(v));
#endif
                    STORE_N(values, of_b + v * VWN);
                }
                #pragma unroll
                for (int j = 0; j < NWI; j++) {
                    #pragma unroll
                    for (int i = 0; i < MVEC; i++) {
                        sums[j][i] = mad(of_a[i], of_b[j], sums[j][i]);
                    }
                }
            }
        }
#if SA || SB
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }

    #pragma unroll
    for (int v = 0; v < NVEC; v++) {
        #pragma unroll
        for (int w = 0; w < VWN; w++) {
            #pragma unroll
            for (int i = 0; i < MVEC; i++) {
                STORE_M(sums[v * VWN + w][i], c + (size_t)(N_AT(v) + w) * m + M_AT(i));
            }
        }
    }
}
