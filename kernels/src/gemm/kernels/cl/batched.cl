// C <- alpha op(A) op(B) + beta C for many small products: each has its A `stride_a` elements after that of the
// one before, or the same where that is 0, and likewise B and C. -1 means that matrices follow each other.
//
// op(A) has m rows and k columns. A has its elements at i * lda + p, or at p * lda + i with TRANS_A; B at
// p * ldb + j, or at j * ldb + p with TRANS_B; C at i * ldc + j. 0 for one of these distances means that rows
// follow each other.
//
//   MWG, NWG, KWG   the tile of a product that a team of work-items has
//   MWI, NWI        the part of the tile that a work-item sums up
//   VM, VN          the vector widths in which it reads its part of A, of B
//   PRODUCTS        the teams of a work-group, each with a product of its own
//   LOCAL           whether tiles are copied to local memory
//   VW              how many elements are copied at once
//   PAD             the elements between the lines of a tile in local memory
//   AHEAD           whether a tile is read while the one before is multiplied
//   UNROLL          of the loop over k
//
// Where EDGE_* is 1, tiles stick out of the matrix, or work-groups of the batch. With ONE_TILE a product is a
// single tile, with ONE_STEP all of k is in it.

#include "types.cl"

#define TEAM_M (MWG / MWI)
#define TEAM_N (NWG / NWI)
#define TEAM (TEAM_M * TEAM_N)
#define ITEMS (PRODUCTS * TEAM)
#define NVEC (NWI / VN)
// The first column, within the tile, of a work-item's vector number `v`, and its row number `i`: neighbours
// have neighbouring vectors.
#define COLUMN(v) (((v) * TEAM_N + item_n) * VN)
#define ROW(i) (((i) / VM * TEAM_M + item_m) * VM + (i) % VM)

#ifdef C_HALF
#define READ(at) vload_half(0, at)
#else
#define READ(at) (*(at))
#endif
// Vectors of what is stored, at any element and at multiples of their size. bfloat16 has its own.
#ifdef READ_VECTOR
#elif defined(C_HALF)
#define READ_VECTOR(width, at) EXPAND(vload_half, width)(0, at)
#define READ_ALIGNED(width, at) EXPAND(vloada_half, width)(0, at)
#define WRITE_VECTOR(width, value, at) EXPAND(vstore_half, width)(value, 0, at)
#define WRITE_ALIGNED(width, value, at) EXPAND(vstorea_half, width)(value, 0, at)
#else
#define READ_VECTOR(width, at) EXPAND(vload, width)(0, at)
#define READ_ALIGNED(width, at) (*(__global const EXPAND(REAL, width)*)(at))
#define WRITE_VECTOR(width, value, at) EXPAND(vstore, width)(value, 0, at)
#define WRITE_ALIGNED(width, value, at) (*(__global EXPAND(REAL, width)*)(at) = (value))
#endif

// A work-item's vector of sums.
#if VN == 1
typedef REAL vector;
#define TO_ARRAY(value, to) (*(to) = (value))
#define FROM_ARRAY(from) (*(from))
#else
typedef EXPAND(REAL, VN) vector;
#define TO_ARRAY(value, to) EXPAND(vstore, VN)(value, 0, to)
#define FROM_ARRAY(from) EXPAND(vload, VN)(0, from)
#endif

#if LOCAL

// What is copied at once.
#if VW == 1
typedef REAL chunk;
#else
typedef EXPAND(REAL, VW) chunk;
#endif

// The place of a chunk in the tiles of a work-group: its product, and its first element's summand and row of A
// or column of B.
typedef struct {
    int product, p, x;
} place;

// Chunk number `e` of tiles that have `wg` rows or columns; lines are across k or along it.
inline place place_of(const int e, const int wg, const bool across) {
    const int chunks = wg * KWG / VW;
    const int line_length = (across ? wg : KWG) / VW;
    const int line = e % chunks / line_length;
    const int at = e % chunks % line_length * VW;
    place found;
    found.product = e / chunks;
    found.p = across ? line : at;
    found.x = across ? at : line;
    return found;
}

// A chunk, of which so many elements are in the matrix.
inline chunk read_chunk(__global const stored* from, const int inside, const bool aligned) {
#if VW == 1
    return inside > 0 ? READ(from) : 0;
#else
    if (inside >= VW) {
        if (aligned) {
            return READ_ALIGNED(VW, from);
        }
        return READ_VECTOR(VW, from);
    }
    REAL values[VW];
    #pragma unroll
    for (int w = 0; w < VW; w++) {
        values[w] = w < inside ? READ(from + w) : 0;
    }
    return EXPAND(vload, VW)(0, values);
#endif
}

// Reads a chunk of the tiles at `from`, of which `left_p` summands, `left_x` rows or columns and `products` are
// in the matrices.
inline chunk fetch(__global const stored* from, const place at, const size_t stride, const size_t step,
                   const bool across, const int edge_x, const int left_p, const int left_x, const int products,
                   const bool aligned) {
    const int edge_line = across ? EDGE_K : edge_x;
    const int edge_at = across ? edge_x : EDGE_K;
    const int line = across ? at.p : at.x;
    const int column = across ? at.x : at.p;
    const int lines = across ? left_p : left_x;
    const int columns = across ? left_x : left_p;
    int inside = edge_at ? columns - column : VW;
    if (edge_line && line >= lines || EDGE_COUNT && at.product >= products) {
        inside = 0;
    }
    return read_chunk(from + at.product * stride + line * step + column, inside, aligned);
}

// Writes a chunk to the tiles in local memory, which have a line for each summand.
inline void put(__local REAL* tiles, const place at, const int wg, const bool across, const chunk value) {
    __local REAL* to = tiles + (at.product * KWG + at.p) * (wg + PAD) + at.x;
#if VW == 1
    *to = value;
#else
    REAL values[VW];
    EXPAND(vstore, VW)(value, 0, values);
    if (across) {
#if VW == 2
        *(__local chunk*)to = value;
#else
        // Lines are multiples of four elements.
        #pragma unroll
        for (int w = 0; w < VW / 4; w++) {
            *(__local EXPAND(REAL, 4)*)(to + 4 * w) = vload4(w, values);
        }
#endif
    } else {
        #pragma unroll
        for (int w = 0; w < VW; w++) {
            to[w * (wg + PAD)] = values[w];
        }
    }
#endif
}

#define ALL_A (PRODUCTS * MWG * KWG / VW)
#define ALL_B (PRODUCTS * NWG * KWG / VW)
#define PIECES(all) (((all) + ITEMS - 1) / ITEMS)
// Runs `body` for each chunk `e` that a work-item copies: its number `piece`. Long loops stay loops.
#define FOR_LOOP(all, body) \
    for (int piece = 0; piece < PIECES(all); piece++) { \
        const int e = piece * ITEMS + item; \
        if ((all) % ITEMS == 0 || e < (all)) { \
            body \
        } \
    }
#define FOR_UNROLLED(all, body) _Pragma("unroll") FOR_LOOP(all, body)
#if PIECES(ALL_A) <= 16
#define FOR_A(body) FOR_UNROLLED(ALL_A, body)
#else
#define FOR_A(body) FOR_LOOP(ALL_A, body)
#endif
#if PIECES(ALL_B) <= 16
#define FOR_B(body) FOR_UNROLLED(ALL_B, body)
#else
#define FOR_B(body) FOR_LOOP(ALL_B, body)
#endif
#define FETCH_A(begin) fetch(a + (begin) * (size_t)(TRANS_A ? step_a : 1), place_of(e, MWG, TRANS_A), next_a, \
                             step_a, TRANS_A, EDGE_M, k - (begin), m - begin_m, products, aligned_a)
#define FETCH_B(begin) fetch(b + (begin) * (size_t)(TRANS_B ? 1 : step_b), place_of(e, NWG, !TRANS_B), next_b, \
                             step_b, !TRANS_B, EDGE_N, k - (begin), n - begin_n, products, aligned_b)

// Vectors from local memory. Wide ones, of CPUs, need not be aligned.
#if VM == 1
#define READ_M(from, to) (*(to) = *(from))
#else
#define READ_M(from, to) EXPAND(vstore, VM)(*(__local const EXPAND(REAL, VM)*)(from), 0, to)
#endif
#if VN <= 4
#define READ_N(from) (*(__local const vector*)(from))
#else
#define READ_N(from) EXPAND(vload, VN)(0, from)
#endif

#if AHEAD
#define BUFFERS 2
#else
#define BUFFERS 1
#endif

#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_batched(const int m, const int n, const int k, const int count, const REAL alpha, const REAL beta,
                  __global const stored* restrict a, const int offset_a, const int lda, const int stride_a,
                  __global const stored* restrict b, const int offset_b, const int ldb, const int stride_b,
                  __global stored* restrict c, const int offset_c, const int ldc, const int stride_c) {
    const int item = get_local_id(0);
    const int team = item / TEAM;
    const int item_n = item % TEAM_N;
    const int item_m = item % TEAM / TEAM_N;

    const size_t group = get_group_id(0);
#if ONE_TILE
    const size_t first = group * PRODUCTS;
    const int begin_m = 0;
    const int begin_n = 0;
#else
    const size_t tiles_n = (n + NWG - 1) / NWG;
    const size_t tiles = (m + MWG - 1) / MWG * tiles_n;
    const size_t first = group / tiles * PRODUCTS;
    const int begin_m = group % tiles / tiles_n * MWG;
    const int begin_n = group % tiles % tiles_n * NWG;
#endif
    const int products = min((size_t)PRODUCTS, count - first);

    const int step_a = lda ? lda : TRANS_A ? m : k;
    const int step_b = ldb ? ldb : TRANS_B ? k : n;
    const int step_c = ldc ? ldc : n;
    const size_t next_a = stride_a < 0 ? m * (size_t)k : stride_a;
    const size_t next_b = stride_b < 0 ? k * (size_t)n : stride_b;
    const size_t next_c = stride_c < 0 ? m * (size_t)n : stride_c;
    a += offset_a + first * next_a + begin_m * (size_t)(TRANS_A ? 1 : step_a);
    b += offset_b + first * next_b + begin_n * (size_t)(TRANS_B ? step_b : 1);
    c += offset_c + (first + team) * next_c + begin_m * (size_t)step_c + begin_n;

    vector sums[MWI][NVEC];
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        #pragma unroll
        for (int v = 0; v < NVEC; v++) {
            sums[i][v] = 0;
        }
    }

    // Adds the products of a column of A and a row of B to the sums.
#define MULTIPLY() { \
        _Pragma("unroll") \
        for (int i = 0; i < MWI; i++) { \
            _Pragma("unroll") \
            for (int v = 0; v < NVEC; v++) { \
                sums[i][v] = fma((vector)(of_a[i]), of_b[v], sums[i][v]); \
            } \
        } \
    }

#if LOCAL
    __local REAL tiles_a[BUFFERS * PRODUCTS * KWG * (MWG + PAD)] __attribute__((aligned(64)));
    __local REAL tiles_b[BUFFERS * PRODUCTS * KWG * (NWG + PAD)] __attribute__((aligned(64)));
    const bool aligned_a = (offset_a | step_a | next_a) % VW == 0;
    const bool aligned_b = (offset_b | step_b | next_b) % VW == 0;

#if AHEAD
    // A barrier for each step: the tiles that it writes over were multiplied before the last one.
    chunk fetched_a[PIECES(ALL_A)], fetched_b[PIECES(ALL_B)];
    FOR_UNROLLED(ALL_A, fetched_a[piece] = FETCH_A(0);)
    FOR_UNROLLED(ALL_B, fetched_b[piece] = FETCH_B(0);)
#endif
    int buffer = 0;
#if ONE_STEP
    const int begin_k = 0;
#else
    for (int begin_k = 0; begin_k < k; begin_k += KWG)
#endif
    {
        __local REAL* of_products_a = tiles_a + buffer * PRODUCTS * KWG * (MWG + PAD);
        __local REAL* of_products_b = tiles_b + buffer * PRODUCTS * KWG * (NWG + PAD);
#if AHEAD
        FOR_UNROLLED(ALL_A, put(of_products_a, place_of(e, MWG, TRANS_A), MWG, TRANS_A, fetched_a[piece]);)
        FOR_UNROLLED(ALL_B, put(of_products_b, place_of(e, NWG, !TRANS_B), NWG, !TRANS_B, fetched_b[piece]);)
        barrier(CLK_LOCAL_MEM_FENCE);
        if (begin_k + KWG < k) {
            FOR_UNROLLED(ALL_A, fetched_a[piece] = FETCH_A(begin_k + KWG);)
            FOR_UNROLLED(ALL_B, fetched_b[piece] = FETCH_B(begin_k + KWG);)
        }
        buffer ^= 1;
#else
        FOR_A(put(of_products_a, place_of(e, MWG, TRANS_A), MWG, TRANS_A, FETCH_A(begin_k));)
        FOR_B(put(of_products_b, place_of(e, NWG, !TRANS_B), NWG, !TRANS_B, FETCH_B(begin_k));)
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        __local const REAL* line_a = of_products_a + team * KWG * (MWG + PAD);
        __local const REAL* line_b = of_products_b + team * KWG * (NWG + PAD);
        #pragma unroll UNROLL
        for (int p = 0; p < KWG; p++) {
            REAL of_a[MWI];
            vector of_b[NVEC];
            #pragma unroll
            for (int i = 0; i < MWI; i += VM) {
                READ_M(line_a + p * (MWG + PAD) + ROW(i), of_a + i);
            }
            #pragma unroll
            for (int v = 0; v < NVEC; v++) {
                of_b[v] = READ_N(line_b + p * (NWG + PAD) + COLUMN(v));
            }
            MULTIPLY()
        }
#if !AHEAD && !ONE_STEP
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }

#else
    if (EDGE_COUNT && team >= products) {
        return;
    }
    a += team * next_a;
    b += team * next_b;
    #pragma unroll UNROLL
    for (int p = 0; p < k; p++) {
        REAL of_a[MWI];
        vector of_b[NVEC];
        #pragma unroll
        for (int i = 0; i < MWI; i++) {
            const size_t row = ROW(i);
            of_a[i] = EDGE_M && row >= m - begin_m
                ? 0 : READ(a + (TRANS_A ? p * (size_t)step_a + row : row * step_a + p));
        }
        #pragma unroll
        for (int v = 0; v < NVEC; v++) {
            const size_t column = COLUMN(v);
            const int inside = EDGE_N ? n - begin_n - COLUMN(v) : VN;
#if VN > 1 && !TRANS_B
            if (inside >= VN) {
                of_b[v] = READ_VECTOR(VN, b + p * (size_t)step_b + column);
                continue;
            }
#endif
            REAL values[VN];
            #pragma unroll
            for (int w = 0; w < VN; w++) {
                values[w] = w < inside
                    ? READ(b + (TRANS_B ? (column + w) * step_b + p : p * (size_t)step_b + column + w)) : 0;
            }
            of_b[v] = FROM_ARRAY(values);
        }
        MULTIPLY()
    }
#endif

    if (EDGE_COUNT && team >= products) {
        return;
    }
    const bool aligned_c = (offset_c | step_c | next_c) % VN == 0;
    #pragma unroll
    for (int i = 0; i < MWI; i++) {
        if (EDGE_M && ROW(i) >= m - begin_m) {
            continue;
        }
        #pragma unroll
        for (int v = 0; v < NVEC; v++) {
            __global stored* at = c + ROW(i) * (size_t)step_c + COLUMN(v);
            const int inside = EDGE_N ? n - begin_n - COLUMN(v) : VN;
#if VN > 1
            if (inside >= VN) {
                vector value = alpha * sums[i][v];
                if (beta != 0) {
                    value += beta * READ_VECTOR(VN, at);
                }
                if (aligned_c) {
                    WRITE_ALIGNED(VN, value, at);
                } else {
                    WRITE_VECTOR(VN, value, at);
                }
                continue;
            }
#endif
            REAL values[VN];
            TO_ARRAY(sums[i][v], values);
            #pragma unroll
            for (int w = 0; w < VN; w++) {
                if (w < inside) {
                    update(at + w, values[w], alpha, beta);
                }
            }
        }
    }
}
