// C <- alpha op(A) op(B) + beta C for many products in half precision or bfloat16, on the tensor cores of
// NVIDIA's GPUs (compute capability 8.0 and later). Sums are in single precision. Matrices lie as batched.cl
// says.
//
//   FACTORS_f16, FACTORS_bf16   the type of A, B and C
//   MWG, NWG, KWG   the tile of a product that a team of work-items has
//   WM, WN          the part of it of 32 work-items, which give orders to a tensor core together
//   PRODUCTS        the teams of a work-group, each with a product of its own
//   STAGES          how many tiles are in local memory: one only where all of k is in it
//   WIDTH           1, 2, 4 or 8: offsets, lines and distances of A and B are multiples of so many elements, which are
//                   copied at once; with 1, eight that begin anywhere
//
// Where EDGE_* is 1, tiles stick out of the matrix, or work-groups of the batch.

#define EPILOGUE 0
#include "exchange.cl"
#include "four.cl"

#define ITEMS_OF_TEAM ((MWG / WM) * (NWG / WN) * 32)
#define ITEMS (PRODUCTS * ITEMS_OF_TEAM)
#define A_OF_K (!TRANS_A)
#define B_OF_K TRANS_B
// Lines in local memory are longer than they need to be, by 16 bytes: then what 8 work-items read at once is in
// different banks.
#define LINE(of_k, wg) (((of_k) ? KWG : (wg)) + 8)
#define TILE(of_k, wg) (LINE(of_k, wg) * ((of_k) ? (wg) : KWG))

// What a work-item copies at once: neighbours copy what is side by side.
#define PIECE (WIDTH == 1 ? 8 : WIDTH)
// Of its elements `inside` are in the matrix, and zeros stand in for the others.
inline void copy_piece(__local stored* to, __global const stored* from, int inside) {
#if WIDTH == 8
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((uint)(size_t)to), "l"((ulong)from), "r"(inside * 2) : "memory");
#elif WIDTH > 1
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"((uint)(size_t)to), "l"((ulong)from), "n"(WIDTH * 2), "r"(inside * 2) : "memory");
#else
    // The hardware copies four bytes at least, which these need not begin at a multiple of. They are read in pairs that
    // do: five of them where the first pair and the last one have an element each.
    const int before = (ulong)from / 2 % 2;
    uint pairs[5];
    #pragma unroll
    for (int i = 0; i < 5; i++) {
        const int first = 2 * i - before;
        pairs[i] = 0;
        if (first + 1 < inside) {
            pairs[i] = *(__global const uint*)(from + first);
        } else if (first >= 0 && first < inside) {
            pairs[i] = from[first];
        }
    }
    // The upper half of a pair and the lower half of the next one, or a pair as it is.
    uint piece[4];
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(piece[i]) : "r"(pairs[i]), "r"(pairs[i + 1]), "r"(before * 16));
    }
    *(__local uint4*)to = (uint4)(piece[0], piece[1], piece[2], piece[3]);
#endif
}
#define END_OF_COPIES() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_ALL_BUT(tiles) asm volatile("cp.async.wait_group %0;" :: "n"(tiles) : "memory")

// Four blocks of 8 x 8 elements, of which this work-item has the place of one of their lines and gets pairs
// along k.
inline void take_blocks(uint* to, __local const stored* line, bool of_k) {
    const uint at = (uint)(size_t)line;
    if (of_k) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    }
}

// Adds the product of 16 x 16 and 16 x 8 elements, of which each work-item has its share.
#ifdef FACTORS_f16
#define TYPES ".f32.f16.f16.f32 "
#else
#define TYPES ".f32.bf16.bf16.f32 "
#endif
inline void multiply(float* sums, const uint* a, const uint* b) {
    asm("mma.sync.aligned.m16n8k16.row.col" TYPES
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// x of the work-item that has the next four columns of a line of 16; the last one has that of the first.
inline float4 of_next(float4 x, int lane) {
    const int next = lane / 4 * 4 + (0x0132 >> lane % 4 * 4) % 4;
    float4 y;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y.x) : "f"(x.x), "r"(next));
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y.y) : "f"(x.y), "r"(next));
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y.z) : "f"(x.z), "r"(next));
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y.w) : "f"(x.w), "r"(next));
    return y;
}
// Four of eight elements, from the one of this number, 0 to 3, on.
inline float4 from_element(int number, float4 x, float4 y) {
    const float4 by_two = number / 2 ? (float4)(x.zw, y.xy) : x;
    const float after = number / 2 ? y.z : y.x;
    return number % 2 ? (float4)(by_two.yzw, after) : by_two;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_batched_tensor(const int m, const int n, const int k, const int count, const float alpha,
                         const float beta,
                         __global const stored* restrict a, const int offset_a, const int lda,
                         const int stride_a,
                         __global const stored* restrict b, const int offset_b, const int ldb,
                         const int stride_b,
                         __global stored* restrict c, const int offset_c, const int ldc, const int stride_c) {
    __local stored tiles_a[STAGES][PRODUCTS][TILE(A_OF_K, MWG)] __attribute__((aligned(16)));
    __local stored tiles_b[STAGES][PRODUCTS][TILE(B_OF_K, NWG)] __attribute__((aligned(16)));

    const int team = get_local_id(0) / ITEMS_OF_TEAM;
    const int item = get_local_id(0) % ITEMS_OF_TEAM;
    const int lane = item % 32;
    const int warp_m = item / 32 % (MWG / WM) * WM;
    const int warp_n = item / 32 / (MWG / WM) * WN;

    const size_t tiles_n = (n + NWG - 1) / NWG;
    const size_t tiles_of_product = (m + MWG - 1) / MWG * tiles_n;
    const size_t group = get_group_id(0);
    const size_t product = group / tiles_of_product * PRODUCTS + team;
    const int begin_m = group % tiles_of_product / tiles_n * MWG;
    const int begin_n = group % tiles_of_product % tiles_n * NWG;
    const int lines_m = m - begin_m;
    const int lines_n = n - begin_n;
    const bool is_there = !EDGE_COUNT || product < count;

    const size_t step_a = lda ? lda : A_OF_K ? k : m;
    const size_t step_b = ldb ? ldb : B_OF_K ? k : n;
    const size_t step_c = ldc ? ldc : n;
    const size_t next_a = stride_a < 0 ? m * (size_t)k : stride_a;
    const size_t next_b = stride_b < 0 ? k * (size_t)n : stride_b;
    const size_t next_c = stride_c < 0 ? m * (size_t)n : stride_c;
    a += offset_a + product * next_a + (A_OF_K ? begin_m * step_a : begin_m);
    b += offset_b + product * next_b + (B_OF_K ? begin_n * step_b : begin_n);

    int left = k;
    // What is outside of a matrix is zero in local memory.
#define FETCH(of_k, wg, tile, from, step, edge, lines) { \
        _Pragma("unroll") \
        for (int i = 0; i < ((wg) * KWG / PIECE + ITEMS_OF_TEAM - 1) / ITEMS_OF_TEAM; i++) { \
            const int piece = i * ITEMS_OF_TEAM + item; \
            const int line = piece / (((of_k) ? KWG : (wg)) / PIECE); \
            const int at = piece % (((of_k) ? KWG : (wg)) / PIECE) * PIECE; \
            int inside = PIECE; \
            if ((edge) || EDGE_K || EDGE_COUNT) { \
                const bool is_inside = is_there && line < ((of_k) ? (lines) : left); \
                inside = is_inside ? clamp(((of_k) ? left : (lines)) - at, 0, PIECE) : 0; \
            } \
            if ((wg) * KWG / PIECE % ITEMS_OF_TEAM == 0 || piece < (wg) * KWG / PIECE) { \
                copy_piece((tile) + line * LINE(of_k, wg) + at, from + line * step + at, inside); \
            } \
        } \
        from += (of_k) ? KWG : KWG * step; \
    }
#define FETCH_TILE(stage) { \
        FETCH(A_OF_K, MWG, tiles_a[stage][team], a, step_a, EDGE_M, lines_m) \
        FETCH(B_OF_K, NWG, tiles_b[stage][team], b, step_b, EDGE_N, lines_n) \
        left -= KWG; \
        END_OF_COPIES(); \
    }

    // Of 16 x 16 sums, the first 8 columns and the others.
    float sums[WM / 16][WN / 16][2][4];
    #pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        #pragma unroll
        for (int j = 0; j < WN / 16; j++) {
            #pragma unroll
            for (int e = 0; e < 8; e++) {
                sums[i][j][e / 4][e % 4] = 0;
            }
        }
    }

#define AHEAD (STAGES == 1 ? 1 : STAGES - 1)
    const int tiles = (k + KWG - 1) / KWG;
    #pragma unroll
    for (int stage = 0; stage < AHEAD; stage++) {
        if (stage < tiles) {
            FETCH_TILE(stage)
        } else {
            END_OF_COPIES();
        }
    }
    int stage = 0;
    int free_stage = AHEAD;
#if STAGES > 1
    for (int tile = 0; tile < tiles; tile++)
#endif
    {
        WAIT_FOR_ALL_BUT(AHEAD - 1);
        // After this everybody has multiplied the tile before, too.
        barrier(CLK_LOCAL_MEM_FENCE);
#if STAGES > 1
        if (tile + AHEAD < tiles) {
            FETCH_TILE(free_stage)
        } else {
            END_OF_COPIES();
        }
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;
#endif
        __local const stored* tile_a = tiles_a[stage][team];
        __local const stored* tile_b = tiles_b[stage][team];
        #pragma unroll
        for (int p = 0; p < KWG; p += 16) {
            // Of A rows of 8 and then the next ones, for 8 of k and then the next; of B columns, for 8 of k
            // and the next, and then the next columns.
            uint of_a[WM / 16][4];
            #pragma unroll
            for (int i = 0; i < WM / 16; i++) {
                const int row = warp_m + i * 16;
                const int at = A_OF_K
                    ? (row + lane % 16) * LINE(A_OF_K, MWG) + p + lane / 16 * 8
                    : (p + lane / 16 * 8 + lane % 8) * LINE(A_OF_K, MWG) + row + lane / 8 % 2 * 8;
                take_blocks(of_a[i], tile_a + at, A_OF_K);
            }
            #pragma unroll
            for (int j = 0; j < WN / 16; j++) {
                const int column = warp_n + j * 16;
                const int at = B_OF_K
                    ? (column + lane / 16 * 8 + lane % 8) * LINE(B_OF_K, NWG) + p + lane / 8 % 2 * 8
                    : (p + lane % 16) * LINE(B_OF_K, NWG) + column + lane / 16 * 8;
                uint of_b[4];
                take_blocks(of_b, tile_b + at, B_OF_K);
                #pragma unroll
                for (int i = 0; i < WM / 16; i++) {
                    multiply(sums[i][j][0], of_a[i], of_b);
                    multiply(sums[i][j][1], of_a[i], of_b + 2);
                }
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }

    if (!is_there) {
        return;
    }
    // This work-item has pairs of columns of two rows. Neighbours exchange pairs, so that each has four columns: the
    // even one of the first 8 columns of 16, the odd one of the others. Where lines of C begin anywhere, each writes the
    // four that begin at a multiple of four elements: the last ones of its own, and the first ones of who has the next.
    const bool is_odd = lane % 2;
    const int row = warp_m + lane / 4;
    const int column = warp_n + is_odd * 8 + lane % 4 / 2 * 4;
    const bool is_aligned = elements_at_once(offset_c, step_c, next_c) == 4;
    c += offset_c + product * next_c + (begin_m + row) * step_c + begin_n + column;
    #pragma unroll
    for (int i = 0; i < WM / 16; i++) {
        #pragma unroll
        for (int e = 0; e < 4; e += 2) {
            float4 fours[WN / 16];
            #pragma unroll
            for (int j = 0; j < WN / 16; j++) {
                const float2 first = (float2)(sums[i][j][0][e], sums[i][j][0][e + 1]);
                const float2 second = (float2)(sums[i][j][1][e], sums[i][j][1][e + 1]);
                const float2 other = of_other(is_odd ? first : second, 1);
                fours[j] = is_odd ? (float4)(other, second) : (float4)(first, other);
            }
            const int below = i * 16 + e * 4;
            const bool is_inside = !EDGE_M || row + below < lines_m;
            __global stored* line = c + below * step_c;
            const int before = is_aligned ? 0 : (4 - (int)((ulong)line / 2 % 4)) % 4;
            #pragma unroll
            for (int j = 0; j < WN / 16; j++) {
                const bool is_last = j + 1 == WN / 16 && lane % 4 == 3;
                const int inside = EDGE_N ? lines_n - column - j * 16 : NWG;
                float4 four_sums = fours[j];
                if (!is_aligned) {
                    const float4 next = of_next(lane % 4 == 0 && j + 1 < WN / 16 ? fours[j + 1] : fours[j], lane);
                    four_sums = from_element(before, fours[j], next);
                    if (is_inside && j == 0 && lane % 4 == 0) {
                        write_four(line, fours[0], alpha, beta, 1, min(inside, before), 0, 0, 0);
                    }
                }
                if (is_inside) {
                    write_four(line + j * 16 + before, four_sums, alpha, beta, 4,
                               min(inside - before, is_last ? 4 - before : 4), 0, 0, 0);
                }
            }
        }
    }
}
