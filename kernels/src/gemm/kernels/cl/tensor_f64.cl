// C <- alpha A B + beta C in double precision, on the tensor cores of NVIDIA's GPUs (compute capability 8.0
// and later). They round as the ordinary units do.
//
//   A_OF_K, B_OF_K   1: m (n) lines of k elements; 0: k lines of m (n) elements
//   MWG, NWG, KWG    the tile of a work-group
//   WM, WN           the part of it of 32 work-items, which give orders to a tensor core together
//   DEPTH            the products of an order along k: 4 before compute capability 9.0; 4, 8 or 16 since
//                    KWG is an even number of orders
//   ROWS             the rows of an order: 8 before compute capability 9.0, 16 since
//   PAIRS_OF_K       whether a work-item's elements of k are neighbours; not with DEPTH 4
//   STAGES           how many tiles are in local memory
//   SWIZZLE          as in pipelined.cl
//   WIDTH            2: lines of A and B begin at multiples of 16 bytes; 1: anywhere
//   EPILOGUE         see epilogue.cl
//
// A distance of 0 means that lines follow each other.
//
// The elements of an order are on their way to registers while the one before is carried out, also from one
// tile to the next.

#define READ_C(at) (*(at))
#include "epilogue.cl"

// The loop over tiles is unrolled, so that the compiler knows where each stage is, for orders of 16 rows and 4 of k:
// those of more of k need the registers themselves, and were slower with it.
#define UNROLLED (DEPTH == 4 && ROWS == 16)

#define ITEMS ((MWG / WM) * (NWG / WN) * 32)
#define BLOCKS_M (WM / 16)
#define PAIRS_N (WN / 16)
// An order multiplies 16 rows, 8 columns and DEPTH of k. Which rows of the tile these are is free, as long as
// C is written likewise, and so is the order of k, as long as A and B have the same: a work-item takes two
// neighbours at once, so that it reads 16 bytes of lines of m and n, and of lines of k with PAIRS_OF_K, and
// writes 32. Lines in local memory are longer than they
// need to be, so that what 8 work-items read at once is in different banks.
#define K_OF(e) (PAIRS_OF_K ? quarter * 2 + (e) / 2 * 8 + (e) % 2 : quarter + (e) * 4)
#if PAIRS_OF_K
#define LINE(of_k, wg) ((of_k) ? KWG + 4 : (wg) + 2)
#else
#define LINE(of_k, wg) ((of_k) ? KWG + 2 : (wg) + 4)
#endif
#define TILE(of_k, wg) (LINE(of_k, wg) * ((of_k) ? (wg) : KWG))

// Copies so many bytes of two elements, and zeros for the rest of them.
inline void copy_pair(__local double* to, __global const double* from, int bytes) {
#if WIDTH == 2
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((uint)(size_t)to), "l"((ulong)from), "r"(bytes) : "memory");
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :: "r"((uint)(size_t)to), "l"((ulong)from), "r"(min(bytes, 8)) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :: "r"((uint)(size_t)(to + 1)), "l"((ulong)(from + 1)), "r"(max(bytes - 8, 0)) : "memory");
#endif
}
#define END_OF_COPIES() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_ALL_BUT(tiles) asm volatile("cp.async.wait_group %0;" :: "n"(tiles) : "memory")

// Adds the product of 16 x DEPTH and DEPTH x 8 elements, of which each work-item has its share: of A rows
// r and r + 1 and every fourth column, of B every fourth row.
inline void multiply(double* sums, const double* a, const double* b) {
#if DEPTH == 16
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif DEPTH == 8
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif ROWS == 16
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3]) : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#else
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sums[0]), "+d"(sums[1]) : "d"(a[0]), "d"(b[0]));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sums[2]), "+d"(sums[3]) : "d"(a[1]), "d"(b[0]));
#endif
}

inline void write_element(__global double* at, double sum, double alpha, double beta, double of_bias) {
    double value = alpha * sum;
    if (beta != 0) {
        value = fma(beta, *at, value);
    }
    FINISH(double, value, of_bias)
    *at = value;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_tensor_f64(const int m, const int n, const int k, const double alpha, const double beta,
                     __global const double* restrict a, const int offset_a, const int lda, const int a_of_k,
                     __global const double* restrict b, const int offset_b, const int ldb, const int b_of_k,
                     __global double* restrict c, const int offset_c, const int ldc,
                     __global const double* restrict bias) {
    __local double tiles_a[STAGES][TILE(A_OF_K, MWG)] __attribute__((aligned(16)));
    __local double tiles_b[STAGES][TILE(B_OF_K, NWG)] __attribute__((aligned(16)));

    const int item = get_local_id(0);
    const int warp = item / 32;
    const int warp_m = warp % (MWG / WM) * WM;
    const int warp_n = warp / (MWG / WM) * WN;
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
    const int lines_m = m - begin_m;
    const int lines_n = n - begin_n;

    const size_t step_a = lda ? lda : A_OF_K ? k : m;
    const size_t step_b = ldb ? ldb : B_OF_K ? k : n;
    const size_t step_c = ldc ? ldc : n;

    // The pairs that this work-item copies begin where number `item` of the tile does.
#define PAIRS(of_k, wg) (((of_k) ? KWG : (wg)) / 2)
#define LINE_OF(of_k, wg) (item / PAIRS(of_k, wg))
#define AT_OF(of_k, wg) (item % PAIRS(of_k, wg) * 2)
    a += offset_a + (A_OF_K ? begin_m * step_a : begin_m) + LINE_OF(A_OF_K, MWG) * step_a + AT_OF(A_OF_K, MWG);
    b += offset_b + (B_OF_K ? begin_n * step_b : begin_n) + LINE_OF(B_OF_K, NWG) * step_b + AT_OF(B_OF_K, NWG);
    int left = k;
#define ALL_PAIRS(wg) ((wg) * KWG / 2)
#define FETCH(of_k, wg, tile, from, step, edge, lines) { \
        __local double* to = (tile) + LINE_OF(of_k, wg) * LINE(of_k, wg) + AT_OF(of_k, wg); \
        _Pragma("unroll") \
        for (int i = 0; i * ITEMS < ALL_PAIRS(wg); i++) { \
            if (ALL_PAIRS(wg) % ITEMS != 0 && i * ITEMS + item >= ALL_PAIRS(wg)) { \
                continue; \
            } \
            const int further = i * (ITEMS / PAIRS(of_k, wg)); \
            int bytes = 16; \
            if (UNROLLED ? EDGE_K && left < KWG : (edge) || EDGE_K) { \
                const bool is_inside = LINE_OF(of_k, wg) + further < ((of_k) ? (lines) : left); \
                bytes = is_inside ? clamp(((of_k) ? left : (lines)) - AT_OF(of_k, wg), 0, 2) * 8 : 0; \
            } else if (edge) { /* All of k is inside: what is, is the same for all tiles. */ \
                bytes = of_k ? (LINE_OF(of_k, wg) + further < (lines) ? 16 : 0) \
                             : clamp((lines) - AT_OF(of_k, wg), 0, 2) * 8; \
            } \
            copy_pair(to + further * LINE(of_k, wg), from + further * step, bytes); \
        } \
        from += (of_k) ? KWG : KWG * step; \
    }
#define FETCH_TILE(stage) { \
        FETCH(A_OF_K, MWG, tiles_a[stage], a, step_a, EDGE_M, lines_m) \
        FETCH(B_OF_K, NWG, tiles_b[stage], b, step_b, EDGE_N, lines_n) \
        left -= KWG; \
    }

    // Of pairs of columns, the one and the other.
    double sums[BLOCKS_M][PAIRS_N][2][4];
    #pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
        #pragma unroll
        for (int j = 0; j < PAIRS_N; j++) {
            #pragma unroll
            for (int e = 0; e < 8; e++) {
                sums[i][j][e / 4][e % 4] = 0;
            }
        }
    }

    // The elements of an order, and of the next one: of blocks, k and two neighbours.
    double in_a[2][BLOCKS_M][DEPTH / 2];
    double in_b[2][PAIRS_N][2][DEPTH / 4];
    // Puts this work-item's elements of 16 rows or columns where INTO(e, neighbour) says.
#define TAKE_16(of_k, wg, tile, first, p, INTO) \
    if ((of_k) && PAIRS_OF_K) { \
        _Pragma("unroll") \
        for (int e = 0; e < DEPTH / 4; e += 2) { \
            __local const double* at = (tile) + ((first) + eighth * 2) * LINE(of_k, wg) + (p) + K_OF(e); \
            const double2 one = *(__local const double2*)at; \
            const double2 other = *(__local const double2*)(at + LINE(of_k, wg)); \
            INTO(e, 0) = one.x; \
            INTO(e + 1, 0) = one.y; \
            INTO(e, 1) = other.x; \
            INTO(e + 1, 1) = other.y; \
        } \
    } else if (of_k) { \
        _Pragma("unroll") \
        for (int e = 0; e < DEPTH / 4; e++) { \
            __local const double* at = (tile) + ((first) + eighth * 2) * LINE(of_k, wg) + (p) + K_OF(e); \
            INTO(e, 0) = at[0]; \
            INTO(e, 1) = at[LINE(of_k, wg)]; \
        } \
    } else { \
        _Pragma("unroll") \
        for (int e = 0; e < DEPTH / 4; e++) { \
            const double2 two = *(__local const double2*)( \
                (tile) + ((p) + K_OF(e)) * LINE(of_k, wg) + (first) + eighth * 2); \
            INTO(e, 0) = two.x; \
            INTO(e, 1) = two.y; \
        } \
    }
#define OF_A(e, neighbour) in_a[set][i][(e) * 2 + (neighbour)]
#define OF_B(e, neighbour) in_b[set][j][neighbour][e]
#define TAKE(of_set, stage, p) { \
        const int set = of_set; \
        _Pragma("unroll") \
        for (int i = 0; i < BLOCKS_M; i++) { \
            TAKE_16(A_OF_K, MWG, tiles_a[stage], warp_m + i * 16, p, OF_A) \
        } \
        _Pragma("unroll") \
        for (int j = 0; j < PAIRS_N; j++) { \
            TAKE_16(B_OF_K, NWG, tiles_b[stage], warp_n + j * 16, p, OF_B) \
        } \
    }

    const int tiles = (k + KWG - 1) / KWG;
    #pragma unroll
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead < tiles) {
            FETCH_TILE(ahead)
        }
        END_OF_COPIES();
    }
    WAIT_FOR_ALL_BUT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    TAKE(0, 0, 0)
    int stage = 0;
    int free_stage = STAGES - 1;
    // Multiplies a tile, while a later one is copied.
#define ONE_TILE(tile) { \
        if (tile + STAGES - 1 < tiles) { \
            FETCH_TILE(free_stage) \
        } \
        END_OF_COPIES(); \
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1; \
        _Pragma("unroll") \
        for (int step = 0; step < KWG / DEPTH; step++) { \
            const int now = step % 2; \
            if (step + 1 < KWG / DEPTH) { \
                TAKE(1 - now, stage, (step + 1) * DEPTH) \
            } else { \
                /* After this everybody has taken the last elements of the tile. */ \
                WAIT_FOR_ALL_BUT(STAGES - 2); \
                barrier(CLK_LOCAL_MEM_FENCE); \
                stage = stage + 1 == STAGES ? 0 : stage + 1; \
                TAKE(1 - now, stage, 0) \
            } \
            _Pragma("unroll") \
            for (int j = 0; j < PAIRS_N; j++) { \
                _Pragma("unroll") \
                for (int i = 0; i < BLOCKS_M; i++) { \
                    multiply(sums[i][j][0], in_a[now][i], in_b[now][j][0]); \
                    multiply(sums[i][j][1], in_a[now][i], in_b[now][j][1]); \
                } \
            } \
        } \
    }
#if UNROLLED
    for (int tile = 0; tile < tiles;) {
        stage = 0;
        free_stage = STAGES - 1;
        #pragma unroll
        for (int s = 0; s < STAGES; s++, tile++) {
            if (tile >= tiles) {
                break;
            }
            ONE_TILE(tile)
        }
    }
#else
    for (int tile = 0; tile < tiles; tile++) {
        ONE_TILE(tile)
    }
#endif

    // This work-item's elements are four successive columns of two successive rows of each block.
    const int row = warp_m + eighth * 2;
    const int column = warp_n + quarter * 4;
    c += offset_c + (begin_m + row) * step_c + begin_n + column;
    const bool together = ((offset_c | (int)step_c) & 1) == 0;
    #pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            #pragma unroll
            for (int j = 0; j < PAIRS_N; j++) {
                __global double* at = c + (i * 16 + h) * step_c + j * 16;
                const double x[4] = {sums[i][j][0][h * 2], sums[i][j][1][h * 2], sums[i][j][0][h * 2 + 1],
                                     sums[i][j][1][h * 2 + 1]};
                if (EDGE_M && row + i * 16 + h >= lines_m) {
                    continue;
                }
                if (!EPILOGUE && beta == 0 && together && (!EDGE_N || column + j * 16 + 3 < lines_n)) {
                    *(__global double2*)at = (double2)(alpha * x[0], alpha * x[1]);
                    *(__global double2*)(at + 2) = (double2)(alpha * x[2], alpha * x[3]);
                    continue;
                }
                #pragma unroll
                for (int e = 0; e < 4; e++) {
                    if (!EDGE_N || column + j * 16 + e < lines_n) {
                        const double of_bias =
                            BIAS(READ_C, begin_m + row + i * 16 + h, begin_n + column + j * 16 + e);
                        write_element(at + e, x[e], alpha, beta, of_bias);
                    }
                }
            }
        }
    }
}
