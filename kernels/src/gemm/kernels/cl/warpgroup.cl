// C <- alpha A B + beta C on the tensor cores of NVIDIA's Hopper GPUs, in single precision of three TF32
// products for each (split.cl says how and why).
//
// A is m lines of k elements and B, other than everywhere else, n lines of k, because that is how these
// instructions read TF32. Lines begin at multiples of 16 bytes. A distance of 0 means that lines follow
// each other.
//
//   WARPGROUPS    of 64 rows each: the tile of a work-group has MWG = 64 * WARPGROUPS of them
//   NWG           its columns
//   STAGES        how many tiles are in local memory
//   TILES_AHEAD   how many tiles are added up by the tensor cores before the ordinary units add that
//                 to the sums
//   SWIZZLE       as in pipelined.cl
//   EPILOGUE      see epilogue.cl
//
// A tile is 32 products deep, which is a line of 128 bytes. While the tensor cores multiply one tile, the
// work-items split the next, and the ones after it are on their way to local memory.

#define REAL float
#define REAL_SIZE 4
#include "types.cl"
#include "epilogue.cl"
#include "wgmma.cl"

#define MWG (64 * WARPGROUPS)
#define KWG 32
#define ITEMS (128 * WARPGROUPS)
#define CHUNKS_A (MWG * KWG / 4 / ITEMS)
#define CHUNKS_B (NWG * KWG / 4 / ITEMS)
// Lines that are copied at once.
#define LINES (ITEMS / 8)

// The low parts of B: of the tile that is multiplied, of the next, and of the one that a slower warpgroup
// is still at.
#define LOW_TILES 3

// How many bytes of a chunk are in the matrix.
inline int bytes_inside(int line, int lines, int at, int columns) {
    return line < lines ? clamp(columns - at, 0, 4) * 4 : 0;
}

inline void copy_chunk(__local float* to, __global const float* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((uint)(size_t)to), "l"((ulong)from), "r"(bytes) : "memory");
}
#define END_OF_COPIES() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_ALL_BUT(tiles) asm volatile("cp.async.wait_group %0;" :: "n"(tiles) : "memory")

// x rounded to TF32. Rounding to nearest leaves a low part that is half as large as after cutting off, and
// as often below zero as above.
inline uint high_part(float x) {
    return (as_uint(x) + 0x1000u) & 0xffffe000u;
}

// The parts of this work-item's chunks of a tile of B: each copied those itself, so nobody is waited for.
inline void split_b(__local float* tile, __local float* low) {
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) {
        __local float4* at = (__local float4*)(tile + i * LINES * KWG);
        const float4 x = *at;
        const uint4 high = (uint4)(high_part(x.x), high_part(x.y), high_part(x.z), high_part(x.w));
        *(__local uint4*)at = high;
        *(__local float4*)(low + i * LINES * KWG) = x - as_float4(high);
    }
}

// The parts of this work-item's elements of A: of rows r and r + 8 of 16, elements q and q + 4 of each 8.
// `of_item` is where its row begins, element q of chunk r: chunk c is in the place c ^ r.
inline void split_a(__local const float* of_item, uint high[4][4], uint low[4][4]) {
    #pragma unroll
    for (int step = 0; step < 4; step++) {
        #pragma unroll
        for (int e = 0; e < 4; e++) {
            const size_t chunk = (size_t)of_item ^ (step * 2 + e / 2) * 16;
            const float x = ((__local const float*)chunk)[e % 2 * 8 * KWG];
            high[step][e] = high_part(x);
            low[step][e] = as_uint(x - as_float(high[step][e]));
        }
    }
}

#define READ_BIASES(at) vload2(0, at)
// Two elements of C, of which `inside` are in the matrix; `together` where both can be written at once.
inline void write_pair(__global float* at, float first, float second, float alpha, float beta, bool together,
                       int inside, int row, int column, __global const float* bias) {
    if (together && inside >= 2) {
        float2 values = (float2)(first, second) * alpha;
        if (beta != 0) {
            values += beta * *(__global const float2*)at;
        }
        FINISH(float2, values, BIAS(READ_BIASES, row, column))
        *(__global float2*)at = values;
        return;
    }
    if (inside >= 1) {
        write_element(at, first, alpha, beta, BIAS(READ_C, row, column));
    }
    if (inside >= 2) {
        write_element(at + 1, second, alpha, beta, BIAS(READ_C, row, column + 1));
    }
}

// The orders for a tile. The small products come first, while the sum is small.
#define MULTIPLY(how, high, low, of_b, low_b) { \
        BEGIN_ORDERS(); \
        ORDER("p", how, low[0], of_b); \
        ORDER("p", "go_on", low[1], (of_b) + 2); \
        ORDER("p", "go_on", low[2], (of_b) + 4); \
        ORDER("p", "go_on", low[3], (of_b) + 6); \
        ORDER("p", "go_on", high[0], low_b); \
        ORDER("p", "go_on", high[1], (low_b) + 2); \
        ORDER("p", "go_on", high[2], (low_b) + 4); \
        ORDER("p", "go_on", high[3], (low_b) + 6); \
        ORDER("p", "go_on", high[0], of_b); \
        ORDER("p", "go_on", high[1], (of_b) + 2); \
        ORDER("p", "go_on", high[2], (of_b) + 4); \
        ORDER("p", "go_on", high[3], (of_b) + 6); \
        END_ORDERS(); \
    }

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_warpgroup(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                    __global const REAL* restrict a, const int offset_a, const int lda,
                    __global const REAL* restrict b, const int offset_b, const int ldb,
                    __global stored* restrict c, const int offset_c, const int ldc,
                    __global const stored* restrict bias) {
    __local float tiles_a[STAGES][MWG * KWG] __attribute__((aligned(1024)));
    __local float tiles_b[STAGES][NWG * KWG] __attribute__((aligned(1024)));
    __local float lows[LOW_TILES][NWG * KWG] __attribute__((aligned(1024)));
    DECLARE_SUMS();

    const int item = get_local_id(0);
    const int warp = item / 32;
    // The place of a work-item's elements within blocks, as the instruction defines it.
    const int eighth = item % 32 / 4;
    const int quarter = item % 4;

    const int tiles_m = (m + MWG - 1) / MWG;
    const int tiles_n = (n + NWG - 1) / NWG;
    const int group = get_group_id(0);
    const int first_m = group / (SWIZZLE * tiles_n) * SWIZZLE;
    const int band = min(tiles_m - first_m, SWIZZLE);
    const int begin_m = (first_m + group % (SWIZZLE * tiles_n) % band) * MWG;
    const int begin_n = group % (SWIZZLE * tiles_n) / band * NWG;

    const size_t step_a = lda ? lda : k;
    const size_t step_b = ldb ? ldb : k;
    const size_t step_c = ldc ? ldc : n;

    // What this work-item copies: a chunk of every LINES-th line.
    const int line = item / 8;
    const int in_line = item % 8 * 4;
    const int place = line * KWG + ((item % 8) ^ (line % 8)) * 4;
    __global const float* from_a = a + offset_a + (begin_m + line) * step_a + in_line;
    __global const float* from_b = b + offset_b + (begin_n + line) * step_b + in_line;
    int columns = k;
#define INSIDE(edge, lines, i) \
    ((edge) || EDGE_K ? bytes_inside(line + i * LINES, (edge) ? lines : INT_MAX, in_line, columns) : 16)
    // To add up steps takes fewer registers than their multiples.
#define FETCH(count, tile, from, step, edge, lines) { \
        __global const float* at = from; \
        _Pragma("unroll") \
        for (int i = 0; i < count; i++) { \
            copy_chunk((tile) + place + i * LINES * KWG, at, INSIDE(edge, lines, i)); \
            at += LINES * step; \
        } \
        from += KWG; \
    }
#define FETCH_TILE(stage) { \
        FETCH(CHUNKS_A, tiles_a[stage], from_a, step_a, EDGE_M, m - begin_m) \
        FETCH(CHUNKS_B, tiles_b[stage], from_b, step_b, EDGE_N, n - begin_n) \
        columns -= KWG; \
    }

    const int tiles = (k + KWG - 1) / KWG;
    #pragma unroll
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < tiles) {
            FETCH_TILE(ahead)
        }
        END_OF_COPIES();
    }

    // Of A: of the tile that is multiplied, and of the next.
    uint high[2][4][4], low[2][4][4];
    const int of_item = (warp * 16 + eighth) * KWG + eighth * 4 + quarter;
    int stage = 0;
    int low_stage = 0;
    int free_stage = STAGES - 1;
#define PREPARE(in_flight) \
        WAIT_FOR_ALL_BUT(in_flight); \
        split_b(tiles_b[stage] + place, lows[low_stage] + place); \
        SHOW_TO_ORDERS(); \
        barrier(CLK_LOCAL_MEM_FENCE);
#define ORDER_TILE(how, set) \
        MULTIPLY(how, high[set], low[set], lines_at(tiles_b[stage]), lines_at(lows[low_stage]))

    PREPARE(STAGES - 2)
    split_a(tiles_a[stage] + of_item, high[0], low[0]);
    ORDER_TILE("begin", 0)
    // Prepares tile number `tile` while the one before, whose elements of A are set `busy`, is multiplied.
    // After the barrier every warpgroup has done with the tile before that: its place is free.
#define NEXT_TILE(busy, set) { \
        stage = stage + 1 == STAGES ? 0 : stage + 1; \
        low_stage = low_stage + 1 == LOW_TILES ? 0 : low_stage + 1; \
        PREPARE(STAGES - 3) \
        if (tile + STAGES - 2 < tiles) { \
            FETCH_TILE(free_stage) \
        } \
        END_OF_COPIES(); \
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1; \
        split_a(tiles_a[stage] + of_item, high[set], low[set]); \
        WAIT_FOR_ORDERS(high[busy], low[busy]); \
        if (tile % TILES_AHEAD == 0) { \
            ADD_PARTS(); \
            ORDER_TILE("begin", set) \
        } else { \
            ORDER_TILE("go_on", set) \
        } \
        tile++; \
    }
    int tile = 1;
    while (tile < tiles) {
        NEXT_TILE(0, 1)
        if (tile == tiles) {
            break;
        }
        NEXT_TILE(1, 0)
    }
    WAIT_FOR_ORDERS(high[0], low[0]);
    ADD_PARTS();

    c += offset_c + begin_m * step_c + begin_n;
    const int lines_m = m - begin_m;
    const int lines_n = n - begin_n;
    // This work-item's elements: of two rows, pairs of columns.
    const int row = warp * 16 + eighth;
    const int column = quarter * 2;
    // Infinity has no low part: infinity - infinity, or infinity * 0. Plain arithmetic says what the sums
    // really are.
    float doubtful = 0.0f;
#define LOOK_AT(name) { \
        float sums[8]; \
        TAKE_SUMS(name, sums); \
        _Pragma("unroll") \
        for (int e = 0; e < 8; e++) { \
            doubtful = fma(sums[e], 0.0f, doubtful); \
        } \
    }
    FOR_ROWS(LOOK_AT)
    if (isnan(doubtful)) {
        a += offset_a + begin_m * step_a;
        b += offset_b + begin_n * step_b;
        #pragma unroll 1
        for (int e = 0; e < NWG / 2; e++) {
            const int i = row + e / 2 % 2 * 8;
            const int j = column + e / 4 * 8 + e % 2;
            if (i < lines_m && j < lines_n) {
                float sum = 0.0f;
                #pragma unroll 1
                for (int p = 0; p < k; p++) {
                    sum = fma(a[i * step_a + p], b[j * step_b + p], sum);
                }
                const float of_bias = BIAS(READ_C, begin_m + i, begin_n + j);
                write_element(c + i * step_c + j, sum, alpha, beta, of_bias);
            }
        }
        return;
    }
    const bool pairs = (offset_c | (int)step_c) % 2 == 0;
    c += row * step_c + column;
    int at = 0;
#define WRITE_ROW(name) { \
        float sums[8]; \
        TAKE_SUMS(name, sums); \
        _Pragma("unroll") \
        for (int e = 0; e < 8; e += 2) { \
            const int i = e / 2 % 2 * 8; \
            const int j = at + e / 4 * 8; \
            if (!EDGE_M || row + i < lines_m) { \
                write_pair(c + i * step_c + j, sums[e], sums[e + 1], alpha, beta, pairs, \
                           EDGE_N ? lines_n - column - j : 2, begin_m + row + i, begin_n + column + j, bias); \
            } \
        } \
        at += 16; \
    }
    FOR_ROWS(WRITE_ROW)
}
