// C <- alpha A B + beta C on the tensor cores of NVIDIA's Hopper GPUs, in single precision of three TF32
// products for each (split.cl says how and why).
//
// A is m lines of k elements. B is n lines of k (B_OF_K 1), because that is how these instructions read TF32 from
// local memory, or k lines of n: then the product of the transposes is computed, of which B is the factor that
// they take from registers. Rows are those of B's transpose then, and columns those of A's. Lines begin at
// multiples of 16 bytes. A distance of 0 means that lines follow each other.
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

#define FACTORS_tf32
#include "across.cl"
#include "wgmma.cl"

#define MWG (64 * WARPGROUPS)
#define KWG 32
#define ITEMS (128 * WARPGROUPS)
#define CHUNKS_OF_ROWS (MWG * KWG / 4 / ITEMS)
#define CHUNKS_OF_COLUMNS (NWG * KWG / 4 / ITEMS)
// Lines that are copied at once.
#define LINES (ITEMS / 8)

// The low parts of columns: of the tile that is multiplied, of the next, and of the one that a slower warpgroup
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

// The parts of this work-item's chunks of a tile of columns: each copied those itself, so nobody is waited for.
inline void split_columns(__local float* tile, __local float* low) {
    #pragma unroll
    for (int i = 0; i < CHUNKS_OF_COLUMNS; i++) {
        __local float4* at = (__local float4*)(tile + i * LINES * KWG);
        const float4 x = *at;
        const uint4 high = (uint4)(high_part(x.x), high_part(x.y), high_part(x.z), high_part(x.w));
        *(__local uint4*)at = high;
        *(__local float4*)(low + i * LINES * KWG) = x - as_float4(high);
    }
}

// The parts of this work-item's elements of rows: of two rows, elements q and q + 4 of each 8.
inline void split_rows(__local const float* tile, int item, uint high[4][4], uint low[4][4]) {
#if B_OF_K
    // Rows r and r + 8 of 16. Element q of chunk r is where this row begins: chunk c is in the place c ^ r.
    __local const float* of_item = tile + (item / 32 * 16 + item % 32 / 4) * KWG + item % 32;
#endif
    #pragma unroll
    for (int step = 0; step < 4; step++) {
        #pragma unroll
        for (int e = 0; e < 4; e++) {
#if B_OF_K
            const size_t chunk = (size_t)of_item ^ (step * 2 + e / 2) * 16;
            const float x = ((__local const float*)chunk)[e % 2 * 8 * KWG];
#else
            const float x = as_float(*element_across(tile, item, step, e));
#endif
            high[step][e] = high_part(x);
            low[step][e] = as_uint(x - as_float(high[step][e]));
        }
    }
}

#if B_OF_K
#define READ_PAIR(at) vload2(0, at)
// Two elements of C, of which `inside` are in the matrix; `together` where both can be written at once.
inline void write_pair(__global float* at, float first, float second, float alpha, float beta, bool together,
                       int inside, int row, int column, __global const float* bias) {
    if (together && inside >= 2) {
        float2 values = (float2)(first, second) * alpha;
        if (beta != 0) {
            values += beta * *(__global const float2*)at;
        }
        FINISH(float2, values, BIAS(READ_PAIR, row, column))
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
#endif

// The orders for a tile. The small products come first, while the sum is small.
#define MULTIPLY(how, high, low, of_columns, low_columns) { \
        BEGIN_ORDERS(); \
        ORDER("p", how, low[0], of_columns); \
        ORDER("p", "go_on", low[1], (of_columns) + 2); \
        ORDER("p", "go_on", low[2], (of_columns) + 4); \
        ORDER("p", "go_on", low[3], (of_columns) + 6); \
        ORDER("p", "go_on", high[0], low_columns); \
        ORDER("p", "go_on", high[1], (low_columns) + 2); \
        ORDER("p", "go_on", high[2], (low_columns) + 4); \
        ORDER("p", "go_on", high[3], (low_columns) + 6); \
        ORDER("p", "go_on", high[0], of_columns); \
        ORDER("p", "go_on", high[1], (of_columns) + 2); \
        ORDER("p", "go_on", high[2], (of_columns) + 4); \
        ORDER("p", "go_on", high[3], (of_columns) + 6); \
        END_ORDERS(); \
    }

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_warpgroup(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                    __global const REAL* restrict a, const int offset_a, const int lda,
                    __global const REAL* restrict b, const int offset_b, const int ldb,
                    __global stored* restrict c, const int offset_c, const int ldc,
                    __global const stored* restrict bias) {
    __local float tiles_of_rows[STAGES][MWG * KWG] __attribute__((aligned(1024)));
    __local float tiles_of_columns[STAGES][NWG * KWG] __attribute__((aligned(1024)));
    __local float lows[LOW_TILES][NWG * KWG] __attribute__((aligned(1024)));
    DECLARE_SUMS();

    const int item = get_local_id(0);
    const size_t step_a = lda ? lda : k;
    const size_t step_b = ldb ? ldb : B_OF_K ? k : n;
    const size_t step_c = ldc ? ldc : n;
#if B_OF_K
    const int rows = m, columns = n;
#else
    const int rows = n, columns = m;
#endif

    const int tiles_along_rows = (rows + MWG - 1) / MWG;
    const int tiles_along_columns = (columns + NWG - 1) / NWG;
    const int group = get_group_id(0);
    const int first_row = group / (SWIZZLE * tiles_along_columns) * SWIZZLE;
    const int band = min(tiles_along_rows - first_row, SWIZZLE);
    const int begin_row = (first_row + group % (SWIZZLE * tiles_along_columns) % band) * MWG;
    const int begin_column = group % (SWIZZLE * tiles_along_columns) / band * NWG;
    const int rows_left = rows - begin_row;
    const int columns_left = columns - begin_column;

    // What this work-item copies: a chunk of every LINES-th line.
    const int line = item / 8;
    const int in_line = item % 8 * 4;
    const int place = line * KWG + ((item % 8) ^ (line % 8)) * 4;
    int left = k;
#define INSIDE(edge, lines, i) \
    ((edge) || EDGE_K ? bytes_inside(line + i * LINES, (edge) ? lines : INT_MAX, in_line, left) : 16)
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
    // Of lines across, in blocks of 32 of them and 32 rows each.
#define FETCH_ACROSS(tile, from, step, edge, lines) { \
        _Pragma("unroll") \
        for (int i = 0; i < CHUNKS_OF_ROWS; i++) { \
            const int below = i * LINES % KWG, beside = i * LINES / KWG * KWG; \
            const int bytes = (edge) || EDGE_K \
                ? bytes_inside(line % KWG + below, left, line / KWG * KWG + in_line + beside, lines) : 16; \
            copy_chunk((tile) + place + i * LINES * KWG, from + below * step + beside, bytes); \
        } \
        from += KWG * step; \
    }
#if B_OF_K
    __global const float* from_rows = a + offset_a + (begin_row + line) * step_a + in_line;
    __global const float* from_columns = b + offset_b + (begin_column + line) * step_b + in_line;
#define FETCH_ROWS(tile) FETCH(CHUNKS_OF_ROWS, tile, from_rows, step_a, EDGE_M, rows_left)
#define FETCH_COLUMNS(tile) FETCH(CHUNKS_OF_COLUMNS, tile, from_columns, step_b, EDGE_N, columns_left)
#else
    __global const float* from_rows = b + offset_b + line % KWG * step_b + begin_row + line / KWG * KWG + in_line;
    __global const float* from_columns = a + offset_a + (begin_column + line) * step_a + in_line;
#define FETCH_ROWS(tile) FETCH_ACROSS(tile, from_rows, step_b, EDGE_M, rows_left)
#define FETCH_COLUMNS(tile) FETCH(CHUNKS_OF_COLUMNS, tile, from_columns, step_a, EDGE_N, columns_left)
#endif
#define FETCH_TILE(stage) { \
        FETCH_ROWS(tiles_of_rows[stage]) \
        FETCH_COLUMNS(tiles_of_columns[stage]) \
        left -= KWG; \
    }

    const int tiles = (k + KWG - 1) / KWG;
    #pragma unroll
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < tiles) {
            FETCH_TILE(ahead)
        }
        END_OF_COPIES();
    }

    // Of rows: of the tile that is multiplied, and of the next.
    uint high[2][4][4], low[2][4][4];
    int stage = 0;
    int low_stage = 0;
    int free_stage = STAGES - 1;
#define PREPARE(in_flight) \
        WAIT_FOR_ALL_BUT(in_flight); \
        split_columns(tiles_of_columns[stage] + place, lows[low_stage] + place); \
        SHOW_TO_ORDERS(); \
        barrier(CLK_LOCAL_MEM_FENCE);
#define ORDER_TILE(how, set) \
        MULTIPLY(how, high[set], low[set], lines_at(tiles_of_columns[stage]), lines_at(lows[low_stage]))

    PREPARE(STAGES - 2)
    split_rows(tiles_of_rows[stage], item, high[0], low[0]);
    ORDER_TILE("begin", 0)
    // Prepares tile number `tile` while the one before, whose elements of rows are set `busy`, is multiplied.
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
        split_rows(tiles_of_rows[stage], item, high[set], low[set]); \
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

    // This work-item's sums: of two rows, pairs of columns.
#if B_OF_K
#define ROWS_APART 8
    const int row = item / 32 * 16 + item % 32 / 4;
    c += offset_c + begin_row * step_c + begin_column;
#else
#define ROWS_APART SECOND_ROW
    const int row = first_row_across(item);
    c += offset_c + begin_column * step_c + begin_row;
#endif
    const int column = item % 4 * 2;
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
#if !B_OF_K
    // The 32 work-items that exchange sums below all go the same way.
    #pragma unroll
    for (int bit = 1; bit < 32; bit *= 2) {
        doubtful += of_other((float2)(doubtful), bit).x;
    }
#endif
    if (isnan(doubtful)) {
        #pragma unroll 1
        for (int e = 0; e < NWG / 2; e++) {
            const int i = row + e / 2 % 2 * ROWS_APART;
            const int j = column + e / 4 * 8 + e % 2;
            if (i < rows_left && j < columns_left) {
#if B_OF_K
                const int in_m = i, in_n = j;
                const size_t of_a = offset_a + (begin_row + i) * step_a;
                const size_t of_b = offset_b + (begin_column + j) * step_b;
                const int row_c = begin_row + i, column_c = begin_column + j;
#else
                const int in_m = j, in_n = i;
                const size_t of_a = offset_a + (begin_column + j) * step_a;
                const size_t of_b = offset_b + begin_row + i;
                const int row_c = begin_column + j, column_c = begin_row + i;
#endif
                float sum = 0.0f;
                #pragma unroll 1
                for (int p = 0; p < k; p++) {
                    sum = fma(a[of_a + p], b[of_b + p * (B_OF_K ? 1 : step_b)], sum);
                }
                const float of_bias = BIAS(READ_C, row_c, column_c);
                write_element(c + in_m * step_c + in_n, sum, alpha, beta, of_bias);
            }
        }
        return;
    }
    int at = 0;
#if B_OF_K
    const bool pairs = (offset_c | (int)step_c) % 2 == 0;
    c += row * step_c + column;
#define WRITE_ROW(name) { \
        float sums[8]; \
        TAKE_SUMS(name, sums); \
        _Pragma("unroll") \
        for (int e = 0; e < 8; e += 2) { \
            const int i = e / 2 % 2 * 8; \
            const int j = at + e / 4 * 8; \
            if (!EDGE_M || row + i < rows_left) { \
                write_pair(c + i * step_c + j, sums[e], sums[e + 1], alpha, beta, pairs, \
                           EDGE_N ? columns_left - column - j : 2, begin_row + row + i, begin_column + column + j, \
                           bias); \
            } \
        } \
        at += 16; \
    }
#else
    const int own_row = place_across(item).x;
    const int own_column = place_across(item).y;
    const int fours = elements_at_once(offset_c, step_c, 0);
    c += own_column * step_c + own_row;
#define WRITE_ROW(name) { \
        float sums[8]; \
        TAKE_SUMS(name, sums); \
        write_across(sums, item, c + at * step_c, step_c, alpha, beta, fours, \
                     EDGE_N ? columns_left - own_column - at : NWG, EDGE_M ? rows_left - own_row : 4, \
                     begin_column + own_column + at, begin_row + own_row, bias); \
        at += 16; \
    }
#endif
    FOR_ROWS(WRITE_ROW)
}
