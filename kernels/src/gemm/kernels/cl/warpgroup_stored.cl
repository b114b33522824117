// C <- alpha A B + beta C on the tensor cores of NVIDIA's Hopper GPUs, which read both factors from local
// memory as they are stored: half precision, bfloat16, or single precision rounded to TF32. Sums are in
// single precision.
//
//   FACTORS_f16, FACTORS_bf16, FACTORS_tf32   the type of A, B and C; C of tf32 is in single precision
//   A_OF_K, B_OF_K   1: m (n) lines of k elements; 0: k lines of m (n) elements, of tf32 for B only
//   WARPGROUPS       of 64 rows each: a tile has MWG = 64 * WARPGROUPS of them
//   NWG              its columns, a multiple of 16 from 64 to 256
//   STAGES           how many tiles are in local memory
//   SWIZZLE          as in pipelined.cl
//   EPILOGUE         see epilogue.cl
//
// Lines begin at multiples of 16 bytes. A distance of 0 means that lines follow each other.
//
// A tile is 128 bytes of k deep. One work-item has the copy engine fill the stages, for as many tiles of C
// as its group computes; the warpgroups give the tensor cores their orders. Nobody waits for all: each
// stage has a barrier for its bytes and one for its readers, so that the first tiles for the next part of C
// are copied while this one is written.
//
// From local memory these instructions read tf32 in lines of k only, and one of the factors they take from
// registers as well. So where B is k lines of n elements, the product of the transposes is computed, of which
// B is the factor from registers: rows are those of B's transpose then, and columns those of A's.
//
// The copy engine takes a matrix by its map, which is 128 bytes in global memory. Each group makes its own
// two in `maps`, by the instructions for changing maps: they set each field of one that is zero.

#include "across.cl"
#include "wgmma.cl"

#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)

#ifdef FACTORS_tf32
#define SIZE 4
#define INSTRUCTION "k8.f32.tf32.tf32 "
// Of maps; the copy engine rounds to nearest.
#define ELEMENT "11"
#define DIRECTIONS ""
#if !B_OF_K
#define TRANSPOSED
#endif
#else
#define SIZE 2
#define DIRECTIONS ", " STRING(EXPAND(OTHER_THAN_, A_OF_K)) ", " STRING(EXPAND(OTHER_THAN_, B_OF_K))
#define OTHER_THAN_0 1
#define OTHER_THAN_1 0
#ifdef FACTORS_f16
#define INSTRUCTION "k16.f32.f16.f16 "
#define ELEMENT "6"
#else
#define INSTRUCTION "k16.f32.bf16.bf16 "
#define ELEMENT "10"
#endif
#endif

#define MWG (64 * WARPGROUPS)
// The last 32 are there for the one that has tiles copied.
#define COPYING_ITEM (128 * WARPGROUPS)
#define ITEMS (COPYING_ITEM + 32)
// The bytes of a line in local memory, and the elements.
#define LINE 128
#define KWG (LINE / SIZE)
// Lines of m or n are copied in blocks of so many elements; the last one may stick out of the tile.
#define BLOCKS(wg) (((wg) + KWG - 1) / KWG)
#define COLUMN_LINES (COLUMNS_OF_K ? NWG : BLOCKS(NWG) * KWG)
#define STAGE_BYTES ((MWG + COLUMN_LINES) * LINE)

// The map of a matrix: lines of `across` elements, of which tiles have one line of local memory.
#define FIELD(name, type, ordinal, value) \
    "tensormap.replace.tile." name ".global.b1024." type " [map], " ordinal value ";\n"
inline void make_map(__global uchar* map, __global const stored* matrix, int across, int lines, size_t step,
                     int tile_lines) {
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        ((__global uint4*)map)[i] = (uint4)(0);
    }
    asm volatile("{\n.reg .b64 map;\ncvta.to.global.u64 map, %0;\n"
                 FIELD("global_address", "b64", "", "%1")
                 FIELD("rank", "b32", "", "1")
                 FIELD("box_dim", "b32", "0, ", STRING(KWG))
                 FIELD("box_dim", "b32", "1, ", "%5")
                 FIELD("global_dim", "b32", "0, ", "%2")
                 FIELD("global_dim", "b32", "1, ", "%3")
                 FIELD("global_stride", "b64", "0, ", "%4")
                 FIELD("element_stride", "b32", "0, ", "1")
                 FIELD("element_stride", "b32", "1, ", "1")
                 FIELD("elemtype", "b32", "", ELEMENT)
                 FIELD("interleave_layout", "b32", "", "0")
                 FIELD("swizzle_mode", "b32", "", "3")
                 FIELD("fill_mode", "b32", "", "0")
                 "fence.proxy.tensormap::generic.release.gpu;\n}"
                 :: "l"((ulong)map), "l"((ulong)matrix), "r"(across), "r"(lines), "l"(step * SIZE),
                    "r"(tile_lines)
                 : "memory");
}
inline void use_map(__global const uchar* map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"((ulong)map) : "memory");
}

// Copies a tile to local memory; `full` counts the bytes.
inline void copy_tile(__local uchar* to, __global const uchar* map, int at, int line, __local ulong* full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"((uint)(size_t)to), "l"((ulong)map), "r"(at), "r"(line), "r"((uint)(size_t)full)
                 : "memory");
}

// Barriers in local memory, which count arrivals and bytes. A barrier is in its first round, number 0, when
// it is made; to wait for the round before that is to wait for nothing.
inline void make_barrier(__local ulong* at, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"((uint)(size_t)at), "r"(arrivals) : "memory");
}
inline void arrive(__local ulong* at) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"((uint)(size_t)at) : "memory");
}
inline void arrive_and_expect(__local ulong* at, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"((uint)(size_t)at), "r"(bytes) : "memory");
}
inline void wait_for_round(__local ulong* at, uint odd) {
    uint is_over;
    do {
        asm volatile("{\n.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, over;\n}"
                     : "=r"(is_over) : "r"((uint)(size_t)at), "r"(odd) : "memory");
    } while (!is_over);
}

#ifdef TRANSPOSED
#define ROWS_OF_K 0
#define COLUMNS_OF_K 1
#else
#define ROWS_OF_K A_OF_K
#define COLUMNS_OF_K B_OF_K
#endif

// Adds the products of 32 bytes of k to all sums, or begins them anew.
#define ORDER_STORED(of_a, of_b, goes_on) \
    asm volatile("{\n.reg .pred on;\nsetp.ne.u32 on, %2, 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" STRING(NWG) INSTRUCTION \
                 "{" REGISTERS("s") "}, %0, %1, on, 1, 1" DIRECTIONS ";\n}" \
                 :: "l"(of_a), "l"(of_b), "r"((uint)(goes_on)) : "memory")
// The same with the rows' elements from registers.
#define ORDER_TAKEN(of_rows, of_columns, goes_on) \
    asm volatile("{\n.reg .pred on;\nsetp.ne.u32 on, %5, 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" STRING(NWG) INSTRUCTION \
                 "{" REGISTERS("s") "}, {%0, %1, %2, %3}, %4, on, 1, 1;\n}" \
                 :: "r"((of_rows)[0]), "r"((of_rows)[1]), "r"((of_rows)[2]), "r"((of_rows)[3]), \
                    "l"(of_columns), "r"((uint)(goes_on)) : "memory")
// Until all orders are carried out but those of so many stages. To name elements in registers here keeps these as
// they are.
#define WAIT_FOR_ORDERS_BUT(stages, ...) \
    asm volatile("wgmma.wait_group.sync.aligned " #stages ";" :: __VA_ARGS__ : "memory")

// Local memory as orders name it, and how far apart 32 bytes of k are in that number.
//
// Lines of k: see lines_at in wgmma.cl. Lines of m or n are in blocks of 64 elements, one block after the
// other, in which 8 lines are 1024 bytes as well.
#define BLOCK (KWG * LINE)
inline ulong local_at(bool of_k, __local const uchar* begin) {
    const ulong blocks = of_k ? 1 : BLOCK / 16;
    return (ulong)1 << 62 | (ulong)(1024 / 16) << 32 | blocks << 16 | (uint)(size_t)begin / 16;
}
#define STEP_OF(of_k) ((of_k) ? 32 / 16 : 32 / SIZE * LINE / 16)

// Where a part of C begins: its row and its column.
inline int2 begin_of(int part, int tiles_m, int tiles_n) {
    const int first_m = part / (SWIZZLE * tiles_n) * SWIZZLE;
    const int band = min(tiles_m - first_m, SWIZZLE);
    return (int2)((first_m + part % (SWIZZLE * tiles_n) % band) * MWG, part % (SWIZZLE * tiles_n) / band * NWG);
}

#ifdef TRANSPOSED
inline void take_rows(uint taken[4][4], __local const uchar* tile, int item) {
    #pragma unroll
    for (int step = 0; step < 4; step++) {
        #pragma unroll
        for (int e = 0; e < 4; e++) {
            taken[step][e] = *element_across(tile, item, step, e);
        }
    }
}

// The orders for 128 bytes of k. Those before them are carried out meanwhile; the next elements of rows are read when
// these have ended.
#define MULTIPLY(taken, other) { \
        const ulong of_columns = local_at(COLUMNS_OF_K, tiles_of_columns[stage]); \
        BEGIN_ORDERS(); \
        ORDER_TAKEN(taken[0], of_columns, step); \
        ORDER_TAKEN(taken[1], of_columns + STEP_OF(COLUMNS_OF_K), 1); \
        ORDER_TAKEN(taken[2], of_columns + 2 * STEP_OF(COLUMNS_OF_K), 1); \
        ORDER_TAKEN(taken[3], of_columns + 3 * STEP_OF(COLUMNS_OF_K), 1); \
        END_ORDERS(); \
        WAIT_FOR_ORDERS_BUT(1, USES(other)); \
        END_OF_STEP() \
        step++; \
        if (step < steps) { \
            wait_for_round(full + stage, round); \
            take_rows(other, tiles_of_rows[stage], item); \
        } \
    }

#define WRITE_ROW(name) { \
        float sums[8]; \
        TAKE_SUMS(name, sums); \
        write_across(sums, item, to + at * step_c, step_c, alpha, beta, together, \
                     EDGE_N ? columns_left - column - at : NWG, EDGE_M ? rows_left - row : 4, begin.y + column + at, \
                     begin.x + row, bias); \
        at += 16; \
    }
#else
// Eight sums of this work-item, of two rows and 16 columns. Neighbours exchange pairs of columns, so that each writes
// four: the even one those of the first 8 columns, the odd one those of the others.
#define WRITE_ROW(name) { \
        float sums[8]; \
        TAKE_SUMS(name, sums); \
        _Pragma("unroll") \
        for (int e = 0; e < 4; e += 2) { \
            const float2 even = (float2)(sums[e], sums[e + 1]); \
            const float2 odd = (float2)(sums[e + 4], sums[e + 5]); \
            const float2 other = of_other(is_odd ? even : odd, 1); \
            const float4 four_sums = is_odd ? (float4)(other, odd) : (float4)(even, other); \
            if (!EDGE_M || row + e * 4 < rows_left) { \
                write_four(to + e * 4 * step_c + at, four_sums, alpha, beta, together, \
                           EDGE_N ? columns_left - column - at : 4, begin.x + row + e * 4, begin.y + column + at, \
                           bias); \
            } \
        } \
        at += 16; \
    }
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_warpgroup_stored(const int m, const int n, const int k, const float alpha, const float beta,
                           __global const stored* restrict a, const int offset_a, const int lda,
                           const int a_of_k,
                           __global const stored* restrict b, const int offset_b, const int ldb,
                           const int b_of_k,
                           __global stored* restrict c, const int offset_c, const int ldc,
                           __global const stored* restrict bias, __global uchar* restrict maps) {
    __local uchar tiles_of_rows[STAGES][MWG * LINE] __attribute__((aligned(1024)));
    __local uchar tiles_of_columns[STAGES][COLUMN_LINES * LINE] __attribute__((aligned(1024)));
    __local ulong full[STAGES], read[STAGES];
    DECLARE_SUMS();

    const int item = get_local_id(0);
    const size_t step_a = lda ? lda : A_OF_K ? k : m;
    const size_t step_b = ldb ? ldb : B_OF_K ? k : n;
    const size_t step_c = ldc ? ldc : n;
    a += offset_a;
    b += offset_b;
#ifdef TRANSPOSED
    const int rows = n, columns = m;
#define MAP_OF_ROWS(map) make_map(map, b, n, k, step_b, KWG)
#define MAP_OF_COLUMNS(map) make_map(map, a, k, m, step_a, NWG)
#else
    const int rows = m, columns = n;
#define MAP_OF_ROWS(map) make_map(map, a, A_OF_K ? k : m, A_OF_K ? m : k, step_a, A_OF_K ? MWG : KWG)
#define MAP_OF_COLUMNS(map) make_map(map, b, B_OF_K ? k : n, B_OF_K ? n : k, step_b, B_OF_K ? NWG : KWG)
#endif
    maps += get_group_id(0) * 256;
    if (item == COPYING_ITEM) {
        MAP_OF_ROWS(maps);
        MAP_OF_COLUMNS(maps + 128);
        for (int i = 0; i < STAGES; i++) {
            make_barrier(full + i, 1);
            make_barrier(read + i, 4 * WARPGROUPS);
        }
        SHOW_TO_ORDERS();
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const int tiles_along_rows = (rows + MWG - 1) / MWG;
    const int tiles_along_columns = (columns + NWG - 1) / NWG;
    const int parts = tiles_along_rows * tiles_along_columns;
    const int steps = (k + KWG - 1) / KWG;
    int stage = 0;
    uint round = 0;
#define NEXT_STAGE() { \
        stage++; \
        if (stage == STAGES) { \
            stage = 0; \
            round ^= 1; \
        } \
    }
    // Lines of k: a tile is one copy. Others: one for each block of it.
#define COPY(of_k, wg, tile, map, begin) { \
        _Pragma("unroll") \
        for (int i = 0; i < ((of_k) ? 1 : BLOCKS(wg)); i++) { \
            const int across = (of_k) ? step * KWG : (begin) + i * KWG; \
            const int line = (of_k) ? (begin) : step * KWG; \
            copy_tile((tile) + i * BLOCK, map, across, line, full + stage); \
        } \
    }
    if (item >= COPYING_ITEM) {
        if (item == COPYING_ITEM) {
            use_map(maps);
            use_map(maps + 128);
            for (int part = get_group_id(0); part < parts; part += get_num_groups(0)) {
                const int2 begin = begin_of(part, tiles_along_rows, tiles_along_columns);
                for (int step = 0; step < steps; step++) {
                    wait_for_round(read + stage, round ^ 1);
                    arrive_and_expect(full + stage, STAGE_BYTES);
                    COPY(ROWS_OF_K, MWG, tiles_of_rows[stage], maps, begin.x)
                    COPY(COLUMNS_OF_K, NWG, tiles_of_columns[stage], maps + 128, begin.y)
                    NEXT_STAGE()
                }
            }
        }
        return;
    }

    // The orders for a stage are given, and those for the stage before are carried out: that may be filled again.
    int before = 0;
#define END_OF_STEP() { \
        if (step && item % 32 == 0) { \
            arrive(read + before); \
        } \
        before = stage; \
        NEXT_STAGE() \
    }
    const int together = elements_at_once(offset_c, step_c, 0);
#ifdef TRANSPOSED
    uint taken[2][4][4] = {{{0}}};
    const int row = place_across(item).x;
    const int column = place_across(item).y;
    c += offset_c + column * step_c + row;
#else
    // This work-item has pairs of columns of two rows.
    const bool is_odd = item % 2;
    const int row = item / 32 * 16 + item % 32 / 4;
    const int column = is_odd * 8 + item % 4 / 2 * 4;
    c += offset_c + row * step_c + column;
#endif
    for (int part = get_group_id(0); part < parts; part += get_num_groups(0)) {
#ifdef TRANSPOSED
        int step = 0;
        wait_for_round(full + stage, round);
        take_rows(taken[0], tiles_of_rows[stage], item);
        while (step < steps) {
            MULTIPLY(taken[0], taken[1])
            if (step == steps) {
                break;
            }
            MULTIPLY(taken[1], taken[0])
        }
        WAIT_FOR_ORDERS_BUT(0, USES(taken[0]), USES(taken[1]));
#else
        for (int step = 0; step < steps; step++) {
            wait_for_round(full + stage, round);
            const ulong of_rows = local_at(ROWS_OF_K, tiles_of_rows[stage] + item / 128 * 64 * LINE);
            const ulong of_columns = local_at(COLUMNS_OF_K, tiles_of_columns[stage]);
            BEGIN_ORDERS();
            ORDER_STORED(of_rows, of_columns, step);
            ORDER_STORED(of_rows + STEP_OF(ROWS_OF_K), of_columns + STEP_OF(COLUMNS_OF_K), 1);
            ORDER_STORED(of_rows + 2 * STEP_OF(ROWS_OF_K), of_columns + 2 * STEP_OF(COLUMNS_OF_K), 1);
            ORDER_STORED(of_rows + 3 * STEP_OF(ROWS_OF_K), of_columns + 3 * STEP_OF(COLUMNS_OF_K), 1);
            END_ORDERS();
            WAIT_FOR_ORDERS_BUT(1);
            END_OF_STEP()
        }
        WAIT_FOR_ORDERS_BUT(0);
#endif
        if (item % 32 == 0) {
            arrive(read + before);
        }

        const int2 begin = begin_of(part, tiles_along_rows, tiles_along_columns);
        const int rows_left = rows - begin.x;
        const int columns_left = columns - begin.y;
#ifdef TRANSPOSED
        __global stored* to = c + begin.y * step_c + begin.x;
#else
        __global stored* to = c + begin.x * step_c + begin.y;
#endif
        int at = 0;
        FOR_ROWS(WRITE_ROW)
    }
}
