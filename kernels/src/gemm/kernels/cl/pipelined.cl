// C <- alpha A B + beta C with three levels of buffering: while a tile is multiplied the next ones are
// on their way to local memory, and while a row of a tile is multiplied the next row is on its way to
// private memory (Lin et al. 2025, section III).
//
// A has k rows of m elements, `lda` apart; B has k rows of n; C has m rows of n. 0 for a distance means
// that rows follow each other. A and B begin at multiples of 16 bytes, as do their rows.
//
//   MWG, NWG, KWG    the tile of a work-group
//   MDIMC, NDIMC     its work-items
//   LANES            how many of 32 successive work-items lie side by side along m
//   MDIMA, NDIMB     work-items side by side while a row of a tile of A, of B, is copied
//   STRM, STRN       whether a work-item's vectors lie apart or side by side
//   VWM, VWN         the vector widths of what is read from local memory
//   COPY, STAGES     how tiles are copied, and how many are in local memory
//   SWIZZLE          how many tiles along m are multiplied before the next ones along n

#include "types.cl"

#define ITEMS (MDIMC * NDIMC)
#define MWI (MWG / MDIMC)
#define NWI (NWG / NDIMC)
#define MVEC (MWI / VWM)
#define NVEC (NWI / VWN)
#define LANES_N (32 / LANES)

#include "tiles.cl"

#if VWM == 1
#define READ_M(from, to) (*(to) = *(from))
#else
#define READ_M(from, to) EXPAND(vstore, VWM)(*(__local const EXPAND(REAL, VWM)*)(from), 0, to)
#endif
#if VWN == 1
#define READ_N(from, to) (*(to) = *(from))
#else
#define READ_N(from, to) EXPAND(vstore, VWN)(*(__local const EXPAND(REAL, VWN)*)(from), 0, to)
#endif

// The first element, within the tile, of a work-item's vector number `v`.
#if STRM
#define M_AT(v) (((v) * MDIMC + item_m) * VWM)
#else
#define M_AT(v) (item_m * MWI + (v) * VWM)
#endif
#if STRN
#define N_AT(v) (((v) * NDIMC + item_n) * VWN)
#else
#define N_AT(v) (item_n * NWI + (v) * VWN)
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_pipelined(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                    __global const REAL* restrict a, const int offset_a, const int lda,
                    __global const REAL* restrict b, const int offset_b, const int ldb,
                    __global stored* restrict c, const int offset_c, const int ldc) {
    __local REAL tile_a[STAGES * KWG * MWG] __attribute__((aligned(16)));
    __local REAL tile_b[STAGES * KWG * NWG] __attribute__((aligned(16)));

    const int item = get_local_id(0);
    const int lane = item % 32;
    const int item_m = item / 32 % (MDIMC / LANES) * LANES + lane % LANES;
    const int item_n = item / 32 / (MDIMC / LANES) * LANES_N + lane / LANES;

    // Tiles that share rows of B are multiplied at about the same time, for the caches.
    const int tiles_m = (m + MWG - 1) / MWG;
    const int tiles_n = (n + NWG - 1) / NWG;
    const int group = get_group_id(0);
    const int first_m = group / (SWIZZLE * tiles_n) * SWIZZLE;
    const int band = min(tiles_m - first_m, SWIZZLE);
    const int begin_m = (first_m + group % (SWIZZLE * tiles_n) % band) * MWG;
    const int begin_n = group % (SWIZZLE * tiles_n) / band * NWG;

    const size_t step_a = lda ? lda : m;
    const size_t step_b = ldb ? ldb : n;
    const size_t step_c = ldc ? ldc : n;
    const int columns_a = m - begin_m;
    const int columns_b = n - begin_n;
    a += offset_a + begin_m;
    b += offset_b + begin_n;

    REAL sums[MWI][NWI];
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        #pragma unroll
        for (int j = 0; j < NWI; j++) {
            sums[i][j] = 0;
        }
    }

    const int tiles = (k + KWG - 1) / KWG;
    int rows = k;
    int stage = 0;

#ifdef COPY_async
#define FETCH_TILE(stage) { \
        FOR_CHUNKS(MWG, MDIMA, \
            copy_chunk(tile_a + ((stage) * KWG + row) * MWG + at, a + row * step_a + at, \
                       ELEMENTS(EDGE_M, columns_a));) \
        FOR_CHUNKS(NWG, NDIMB, \
            copy_chunk(tile_b + ((stage) * KWG + row) * NWG + at, b + row * step_b + at, \
                       ELEMENTS(EDGE_N, columns_b));) \
        a += KWG * step_a; \
        b += KWG * step_b; \
        rows -= KWG; \
    }
    #pragma unroll
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < tiles) {
            FETCH_TILE(ahead)
        }
        END_OF_STAGE();
    }
    int free_stage = STAGES - 1;
    WAIT_FOR_ALL_BUT(STAGES - 2);
#else
    chunk fetched_a[CHUNKS(MWG)], fetched_b[CHUNKS(NWG)];
#define FETCH_TILE() { \
        FOR_CHUNKS(MWG, MDIMA, \
            fetched_a[piece] = load_chunk(a + row * step_a + at, ELEMENTS(EDGE_M, columns_a));) \
        FOR_CHUNKS(NWG, NDIMB, \
            fetched_b[piece] = load_chunk(b + row * step_b + at, ELEMENTS(EDGE_N, columns_b));) \
        a += KWG * step_a; \
        b += KWG * step_b; \
        rows -= KWG; \
    }
#define STORE_TILE(stage) { \
        FOR_CHUNKS(MWG, MDIMA, \
            *(__local chunk*)(tile_a + ((stage) * KWG + row) * MWG + at) = fetched_a[piece];) \
        FOR_CHUNKS(NWG, NDIMB, \
            *(__local chunk*)(tile_b + ((stage) * KWG + row) * NWG + at) = fetched_b[piece];) \
    }
    FETCH_TILE()
    STORE_TILE(0)
#endif
    barrier(CLK_LOCAL_MEM_FENCE);

    // Two rows of each tile: one is multiplied while the other is read.
    REAL of_a[2][MWI], of_b[2][NWI];
#define READ_ROW(into, stage, row) { \
        _Pragma("unroll") \
        for (int v = 0; v < MVEC; v++) { \
            READ_M(tile_a + ((stage) * KWG + (row)) * MWG + M_AT(v), of_a[into] + v * VWM); \
        } \
        _Pragma("unroll") \
        for (int v = 0; v < NVEC; v++) { \
            READ_N(tile_b + ((stage) * KWG + (row)) * NWG + N_AT(v), of_b[into] + v * VWN); \
        } \
    }
    READ_ROW(0, 0, 0)
    for (int tile = 0; tile < tiles; tile++) {
        #pragma unroll
        for (int row = 0; row < KWG; row++) {
            if (row == KWG - 1) {
                // All have read this tile, whose place the one after the next may take.
#ifdef COPY_async
                WAIT_FOR_ALL_BUT(STAGES - 2);
#else
                if (tile + 1 < tiles) {
                    STORE_TILE(stage ^ 1)
                }
#endif
                barrier(CLK_LOCAL_MEM_FENCE);
                stage = stage + 1 == STAGES ? 0 : stage + 1;
            }
            READ_ROW((row + 1) % 2, stage, (row + 1) % KWG)
            if (row == 0) {
#ifdef COPY_async
                if (tile + STAGES - 1 < tiles) {
                    FETCH_TILE(free_stage)
                }
                END_OF_STAGE();
                free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;
#else
                if (tile + 1 < tiles) {
                    FETCH_TILE()
                }
#endif
            }
            // Back and forth, so that successive products share an operand.
            #pragma unroll
            for (int i = 0; i < MWI; i++) {
                #pragma unroll
                for (int step = 0; step < NWI; step++) {
                    const int j = i % 2 ? NWI - 1 - step : step;
                    sums[i][j] = fma(of_a[row % 2][i], of_b[row % 2][j], sums[i][j]);
                }
            }
        }
    }

    c += offset_c + begin_m * step_c + begin_n;
#if !defined(C_HALF) && VWN > 1
    // Whole vectors, where they are aligned and all of the tile is in C.
    if (!EDGE_N && (step_c | offset_c) % VWN == 0) {
        #pragma unroll
        for (int i = 0; i < MWI; i++) {
            const int row = M_AT(i / VWM) + i % VWM;
            if (EDGE_M && row >= columns_a) {
                continue;
            }
            #pragma unroll
            for (int v = 0; v < NVEC; v++) {
                typedef EXPAND(REAL, VWN) vector;
                __global vector* at = (__global vector*)(c + row * step_c + N_AT(v));
                vector value = alpha * EXPAND(vload, VWN)(0, sums[i] + v * VWN);
                if (beta != 0) {
                    value += beta * *at;
                }
                *at = value;
            }
        }
        return;
    }
#endif
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        const int row = M_AT(i / VWM) + i % VWM;
        if (EDGE_M && row >= columns_a) {
            continue;
        }
        #pragma unroll
        for (int v = 0; v < NVEC; v++) {
            #pragma unroll
            for (int w = 0; w < VWN; w++) {
                if (EDGE_N && N_AT(v) + w >= columns_b) {
                    continue;
                }
                update(c + row * step_c + N_AT(v) + w, sums[i][v * VWN + w], alpha, beta);
            }
        }
    }
}
