// C <- alpha A B + beta C on the tensor cores of NVIDIA's GPUs (compute capability 8.0 and later).
//
// They multiply TF32, which has 11 significant bits of a float's 24. With PRODUCTS 3 each factor is
// split into two TF32 numbers, x = high + low, and a product is high*high + high*low + low*high: what is
// left out is at most 2^-24 of it, and low itself is cut off at as much. Tensor cores round sums towards
// zero, which adds up over a long k, so that each sum of STEPS_AHEAD * 8 products starts from zero and is
// added to the rest by the ordinary units, rounded to nearest (the remedy of Ootomo & Yokota 2022).
// With PRODUCTS 1 there is one product of numbers rounded to TF32, and no such sum.
//
// The matrices lie as for pipelined.cl.
//
//   MWG, NWG, KWG   the tile of a work-group
//   WM, WN          the part of it of 32 work-items, which give orders to a tensor core together
//   MDIMA, NDIMB    work-items side by side while a row of a tile is copied
//   STAGES          how many tiles are in local memory
//   STEPS_AHEAD     how many steps of 8 along k are added up by the tensor cores
//   SWIZZLE         as in pipelined.cl
//   EPILOGUE        see epilogue.cl

#define REAL float
#define REAL_SIZE 4
#include "types.cl"
#include "epilogue.cl"

#define ITEMS ((MWG / WM) * (NWG / WN) * 32)
#define BLOCKS_M (WM / 16)
#define BLOCKS_N (WN / 8)
// A row more than 32 memory banks by 8: the 8 x 4 elements that are read at once are in 32 banks.
#define ROW_A (MWG + 8)
#define ROW_B (NWG + 8)

#define COPY_async
#include "tiles.cl"

// Adds the product of a block of 16 x 8 and one of 8 x 8, of which each work-item has its elements.
inline void multiply(float* sums, const uint* a, const uint* b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// x rounded to TF32, and what is left of it, exactly. Cut off instead of rounded, low would be twice as
// large and always of x's sign, so that what it loses would add up.
inline void split(float x, uint* high, uint* low) {
#if PRODUCTS == 1
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*high) : "f"(x));
#else
    *high = (as_uint(x) + 0x1000u) & 0xffffe000u;
    *low = as_uint(x - as_float(*high));
#endif
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gemm_split(const int m, const int n, const int k, const REAL alpha, const REAL beta,
                __global const REAL* restrict a, const int offset_a, const int lda,
                __global const REAL* restrict b, const int offset_b, const int ldb,
                __global stored* restrict c, const int offset_c, const int ldc,
                __global const stored* restrict bias) {
    __local float tile_a[STAGES * KWG * ROW_A] __attribute__((aligned(16)));
    __local float tile_b[STAGES * KWG * ROW_B] __attribute__((aligned(16)));

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

    const size_t step_a = lda ? lda : m;
    const size_t step_b = ldb ? ldb : n;
    const size_t step_c = ldc ? ldc : n;
    const int columns_a = m - begin_m;
    const int columns_b = n - begin_n;
    a += offset_a + begin_m;
    b += offset_b + begin_n;

    float sums[BLOCKS_M][BLOCKS_N][4];
    #pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
        #pragma unroll
        for (int j = 0; j < BLOCKS_N; j++) {
            #pragma unroll
            for (int e = 0; e < 4; e++) {
                sums[i][j][e] = 0.0f;
            }
        }
    }

    const int tiles = (k + KWG - 1) / KWG;
    int rows = k;
#define FETCH_TILE(stage) { \
        FOR_CHUNKS(MWG, MDIMA, \
            copy_chunk(tile_a + ((stage) * KWG + row) * ROW_A + at, a + row * step_a + at, \
                       ELEMENTS(EDGE_M, columns_a));) \
        FOR_CHUNKS(NWG, NDIMB, \
            copy_chunk(tile_b + ((stage) * KWG + row) * ROW_B + at, b + row * step_b + at, \
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
    int stage = 0;
    for (int tile = 0; tile < tiles; tile++) {
        WAIT_FOR_ALL_BUT(STAGES - 2);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tile + STAGES - 1 < tiles) {
            FETCH_TILE(free_stage)
        }
        END_OF_STAGE();
        free_stage = free_stage + 1 == STAGES ? 0 : free_stage + 1;

        __local const float* of_a = tile_a + (stage * KWG + quarter) * ROW_A + warp_m + eighth;
        __local const float* of_b = tile_b + (stage * KWG + quarter) * ROW_B + warp_n + eighth;
        #pragma unroll
        for (int first = 0; first < KWG / 8; first += STEPS_AHEAD) {
            uint high_a[STEPS_AHEAD][BLOCKS_M][4], low_a[STEPS_AHEAD][BLOCKS_M][4];
            #pragma unroll
            for (int s = 0; s < STEPS_AHEAD; s++) {
                #pragma unroll
                for (int i = 0; i < BLOCKS_M; i++) {
                    #pragma unroll
                    for (int e = 0; e < 4; e++) {
                        split(of_a[((first + s) * 8 + e / 2 * 4) * ROW_A + i * 16 + e % 2 * 8],
                              &high_a[s][i][e], &low_a[s][i][e]);
                    }
                }
            }
            #pragma unroll
            for (int j = 0; j < BLOCKS_N; j++) {
                uint high_b[STEPS_AHEAD][2], low_b[STEPS_AHEAD][2];
                #pragma unroll
                for (int s = 0; s < STEPS_AHEAD; s++) {
                    #pragma unroll
                    for (int e = 0; e < 2; e++) {
                        split(of_b[((first + s) * 8 + e * 4) * ROW_B + j * 8], &high_b[s][e], &low_b[s][e]);
                    }
                }
#if PRODUCTS == 1
                #pragma unroll
                for (int s = 0; s < STEPS_AHEAD; s++) {
                    #pragma unroll
                    for (int i = 0; i < BLOCKS_M; i++) {
                        multiply(sums[i][j], high_a[s][i], high_b[s]);
                    }
                }
#else
                float part[BLOCKS_M][4];
                #pragma unroll
                for (int i = 0; i < BLOCKS_M; i++) {
                    #pragma unroll
                    for (int e = 0; e < 4; e++) {
                        part[i][e] = 0.0f;
                    }
                }
                // The small products first, while the sum is small.
                #pragma unroll
                for (int s = 0; s < STEPS_AHEAD; s++) {
                    #pragma unroll
                    for (int i = 0; i < BLOCKS_M; i++) {
                        multiply(part[i], low_a[s][i], high_b[s]);
                    }
                    #pragma unroll
                    for (int i = 0; i < BLOCKS_M; i++) {
                        multiply(part[i], high_a[s][i], low_b[s]);
                    }
                }
                #pragma unroll
                for (int s = 0; s < STEPS_AHEAD; s++) {
                    #pragma unroll
                    for (int i = 0; i < BLOCKS_M; i++) {
                        multiply(part[i], high_a[s][i], high_b[s]);
                    }
                }
                #pragma unroll
                for (int i = 0; i < BLOCKS_M; i++) {
                    #pragma unroll
                    for (int e = 0; e < 4; e++) {
                        sums[i][j][e] += part[i][e];
                    }
                }
#endif
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }

    c += offset_c + begin_m * step_c + begin_n;
    // This work-item's element e of block (i, j).
#define ROW(i, e) (warp_m + (i) * 16 + eighth + (e) / 2 * 8)
#define COLUMN(j, e) (warp_n + (j) * 8 + quarter * 2 + (e) % 2)
#define IS_INSIDE(row, column) ((!EDGE_M || (row) < columns_a) && (!EDGE_N || (column) < columns_b))
#if PRODUCTS == 3
    // Infinity has no low part: infinity - infinity, or infinity * 0. Plain arithmetic says what the sums
    // really are.
    float doubtful = 0.0f;
    #pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
        #pragma unroll
        for (int j = 0; j < BLOCKS_N; j++) {
            #pragma unroll
            for (int e = 0; e < 4; e++) {
                doubtful = fma(sums[i][j][e], 0.0f, doubtful);
            }
        }
    }
    if (isnan(doubtful)) {
        // Back to the first row; to remember where that was would cost registers all the while.
        a -= tiles * KWG * step_a;
        b -= tiles * KWG * step_b;
        #pragma unroll 1
        for (int element = 0; element < BLOCKS_M * BLOCKS_N * 4; element++) {
            const int row = ROW(element / (4 * BLOCKS_N), element % 4);
            const int column = COLUMN(element / 4 % BLOCKS_N, element % 4);
            if (IS_INSIDE(row, column)) {
                float sum = 0.0f;
                #pragma unroll 1
                for (int p = 0; p < k; p++) {
                    sum = fma(a[p * step_a + row], b[p * step_b + column], sum);
                }
                const float of_bias = BIAS(READ_C, begin_m + row, begin_n + column);
                write_element(c + row * step_c + column, sum, alpha, beta, of_bias);
            }
        }
        return;
    }
#endif
    #pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
        #pragma unroll
        for (int j = 0; j < BLOCKS_N; j++) {
            #pragma unroll
            for (int e = 0; e < 4; e++) {
                if (IS_INSIDE(ROW(i, e), COLUMN(j, e))) {
                    const float of_bias = BIAS(READ_C, begin_m + ROW(i, e), begin_n + COLUMN(j, e));
                    write_element(c + ROW(i, e) * step_c + COLUMN(j, e), sums[i][j][e], alpha, beta, of_bias);
                }
            }
        }
    }
}
