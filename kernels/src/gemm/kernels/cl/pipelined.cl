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
//   ORDER            whether the next row is read as a whole or by halves, which takes fewer registers
//   SWIZZLE          how many tiles along m are multiplied before the next ones along n
//   EPILOGUE         see epilogue.cl

#include "types.cl"
#include "epilogue.cl"

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
                    __global stored* restrict c, const int offset_c, const int ldc,
                    __global const stored* restrict bias) {
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

    // All have read a tile: waits for the next one, and frees its place for the one after that.
#ifdef COPY_async
#define NEXT_STAGE() { \
        WAIT_FOR_ALL_BUT(STAGES - 2); \
        barrier(CLK_LOCAL_MEM_FENCE); \
        stage = stage + 1 == STAGES ? 0 : stage + 1; \
    }
#define FETCH_AHEAD() { \
        if (tile + STAGES - 1 < tiles) { \
            FETCH_TILE(free_stage) \
        } \
        END_OF_STAGE(); \
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1; \
    }
#else
#define NEXT_STAGE() { \
        if (tile + 1 < tiles) { \
            STORE_TILE(stage ^ 1) \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
        stage ^= 1; \
    }
#define FETCH_AHEAD() { \
        if (tile + 1 < tiles) { \
            FETCH_TILE() \
        } \
    }
#endif

    // A work-item's vectors of a row from number `first` on.
#define READ_A(to, first, count, stage, row) { \
        _Pragma("unroll") \
        for (int v = 0; v < (count); v++) { \
            READ_M(tile_a + ((stage) * KWG + (row)) * MWG + M_AT((first) + v), (to) + v * VWM); \
        } \
    }
#define READ_B(to, first, count, stage, row) { \
        _Pragma("unroll") \
        for (int v = 0; v < (count); v++) { \
            READ_N(tile_b + ((stage) * KWG + (row)) * NWG + N_AT((first) + v), (to) + v * VWN); \
        } \
    }
    // Adds the products of M x N elements to the sums from (first_m, first_n) on: back and forth, so that
    // successive products share an operand.
#define MULTIPLY(a, b, first_m, M, first_n, N) { \
        _Pragma("unroll") \
        for (int i = 0; i < (M); i++) { \
            _Pragma("unroll") \
            for (int step = 0; step < (N); step++) { \
                const int j = i % 2 ? (N) - 1 - step : step; \
                REAL* sum = &sums[(first_m) + i][(first_n) + j]; \
                *sum = fma((a)[i], (b)[j], *sum); \
            } \
        } \
    }

#ifdef ORDER_rows
    // Two rows of each tile: one is multiplied while the other is read.
    REAL of_a[2][MWI], of_b[2][NWI];
    READ_A(of_a[0], 0, MVEC, 0, 0)
    READ_B(of_b[0], 0, NVEC, 0, 0)
    for (int tile = 0; tile < tiles; tile++) {
        #pragma unroll
        for (int row = 0; row < KWG; row++) {
            if (row == KWG - 1) {
                NEXT_STAGE()
            }
            READ_A(of_a[(row + 1) % 2], 0, MVEC, stage, (row + 1) % KWG)
            READ_B(of_b[(row + 1) % 2], 0, NVEC, stage, (row + 1) % KWG)
            if (row == 0) {
                FETCH_AHEAD()
            }
            MULTIPLY(of_a[row % 2], of_b[row % 2], 0, MWI, 0, NWI)
        }
    }
#else
    // A row of each tile in halves A0, A1, B0, B1: while a quarter of the products is computed, the half is
    // read that the next quarter needs, over the one that none needs any more (Lin et al. 2025, figure
    // 6). A's halves have their places; B's change theirs from row to row, since a row ends with B0 and the
    // next begins with its own.
    REAL of_a[2][MWI / 2], of_b[2][NWI / 2];
    READ_A(of_a[0], 0, MVEC / 2, 0, 0)
    READ_B(of_b[0], 0, NVEC / 2, 0, 0)
    for (int tile = 0; tile < tiles; tile++) {
        #pragma unroll
        for (int row = 0; row < KWG; row++) {
            const int b0 = row % 2;
            const int b1 = 1 - b0;
            READ_B(of_b[b1], NVEC / 2, NVEC / 2, stage, row)
            MULTIPLY(of_a[0], of_b[b0], 0, MWI / 2, 0, NWI / 2)
            READ_A(of_a[1], MVEC / 2, MVEC / 2, stage, row)
            if (row == 0) {
                FETCH_AHEAD()
            }
            MULTIPLY(of_a[0], of_b[b1], 0, MWI / 2, NWI / 2, NWI / 2)
            if (row == KWG - 1) {
                NEXT_STAGE()
            }
            READ_A(of_a[0], 0, MVEC / 2, stage, (row + 1) % KWG)
            MULTIPLY(of_a[1], of_b[b1], MWI / 2, MWI / 2, NWI / 2, NWI / 2)
            READ_B(of_b[b1], 0, NVEC / 2, stage, (row + 1) % KWG)
            MULTIPLY(of_a[1], of_b[b0], MWI / 2, MWI / 2, 0, NWI / 2)
        }
    }
#endif

    c += offset_c + begin_m * step_c + begin_n;
#if !defined(C_HALF) && VWN > 1
    // Whole vectors, where they are aligned and all of the tile is in C.
    typedef EXPAND(REAL, VWN) vector;
#define READ_BIASES(at) EXPAND(vload, VWN)(0, at)
    if (!EDGE_N && (step_c | offset_c) % VWN == 0) {
        #pragma unroll
        for (int i = 0; i < MWI; i++) {
            const int row = M_AT(i / VWM) + i % VWM;
            if (EDGE_M && row >= columns_a) {
                continue;
            }
            #pragma unroll
            for (int v = 0; v < NVEC; v++) {
                __global vector* at = (__global vector*)(c + row * step_c + N_AT(v));
                vector value = alpha * EXPAND(vload, VWN)(0, sums[i] + v * VWN);
                if (beta != 0) {
                    value += beta * *at;
                }
                FINISH(vector, value, BIAS(READ_BIASES, begin_m + row, begin_n + N_AT(v)))
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
                const REAL of_bias = BIAS(READ_C, begin_m + row, begin_n + N_AT(v) + w);
                write_element(c + row * step_c + N_AT(v) + w, sums[i][v * VWN + w], alpha, beta, of_bias);
            }
        }
    }
}
