// 2D convolution of a one-channel picture of floats with FILTER x FILTER weights, FILTER odd:
//
//   output(x, y) = sum over i, j of weights(i, j) * input(x + i - RADIUS, y + j - RADIUS)
//
//   XWG, YWG     the work-items of a work-group that compute
//   XWPT, YWPT   the block of pixels that each of them computes
//   CACHE        where they read: 0 global memory; 1, 2 a tile in local memory, which the work-group
//                fills first. 1: its work-items take turns at the pixels, so that neighbours read
//                neighbours. 2: helpers around them, which only that is done by, make the work-group as
//                large as the tile, and each work-item copies one block, in vectors
//   VW           pixels that are stored, read and, CACHE 2, copied with one vector
//   PAD          whether rows of the tile are a vector longer, against bank conflicts
//   UNR          whether the loops over the filter are unrolled
//
// ROW_ALIGNMENT is the largest power of two up to 16 that the width is a multiple of.
#include "picture.cl"

#define RADIUS (FILTER / 2)
#define WINDOW_WIDTH (XWPT + FILTER - 1)
#define WINDOW_HEIGHT (YWPT + FILTER - 1)

// The tile begins a whole number of vectors left of the pixels that are computed, LEAD pixels before the
// first that is needed: so its vectors are aligned, in the picture and in local memory.
#define HALO ((RADIUS + VW - 1) / VW * VW)
#define LEAD (HALO - RADIUS)

#define GROUP_WIDTH (XWG * XWPT)
#define GROUP_HEIGHT (YWG * YWPT)
#define TILE_WIDTH (GROUP_WIDTH + 2 * HALO)
#define TILE_HEIGHT (GROUP_HEIGHT + FILTER - 1)
#define TILE_PITCH (TILE_WIDTH + PAD * VW)

#if CACHE == 2
#define LOCAL_X (XWG + (2 * HALO + XWPT - 1) / XWPT)
#define LOCAL_Y (YWG + (FILTER - 1 + YWPT - 1) / YWPT)
#else
#define LOCAL_X XWG
#define LOCAL_Y YWG
#endif

#define VECTORS (XWPT / VW)
#define UNROLL _Pragma("unroll")
#define LOOP _Pragma("unroll 1")
#if UNR
#define FILTER_LOOP UNROLL
#else
#define FILTER_LOOP LOOP
#endif

#if VW == 1
typedef float vector;
#define LOAD(from) (*(from))
#define STORE(value, to) (*(to) = (value))
#else
#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)
typedef EXPAND(float, VW) vector;
#define LOAD(from) EXPAND(vload, VW)(0, from)
#define STORE(value, to) EXPAND(vstore, VW)(value, 0, to)
#endif

// A vector of a picture's row, from a whole number of vectors on. Where every row begins with a vector,
// it is aligned, and the compiler may use one instruction where it must otherwise use VW.
#if ROW_ALIGNMENT % VW == 0
#define LOAD_ROW(from) (*(__global const vector*)(from))
#define STORE_ROW(value, to) (*(__global vector*)(to) = (value))
#else
#define LOAD_ROW LOAD
#define STORE_ROW STORE
#endif

// Adds up a block. ROW(y) declares `row`, from where on row y of what is needed of the window is. Each
// vector is read once and goes into every row of results that it belongs to.
#define CONVOLVE(ROW, LOOPS)                                                                  \
    LOOPS for (int y = 0; y < WINDOW_HEIGHT; y++) {                                           \
        ROW(y)                                                                                \
        LOOPS for (int i = 0; i < FILTER; i++) {                                              \
            UNROLL for (int v = 0; v < VECTORS; v++) {                                        \
                const vector pixels = LOAD(row + i + v * VW);                                 \
                UNROLL for (int r = 0; r < YWPT; r++) {                                       \
                    if (y - r >= 0 && y - r < FILTER) {                                       \
                        sums[r][v] += weights[(y - r) * FILTER + i] * pixels;                 \
                    }                                                                         \
                }                                                                             \
            }                                                                                 \
        }                                                                                     \
    }

// The hint keeps compilers that would make vectors of work-items from doing so where there are vectors.
__kernel __attribute__((reqd_work_group_size(LOCAL_X, LOCAL_Y, 1), vec_type_hint(vector)))
void conv2d_direct(const int width, const int height, const int border,
                   __constant float* weights,
                   __global const float* restrict input,
                   __global float* restrict output) {
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const int group_x = get_group_id(0) * GROUP_WIDTH;
    const int group_y = get_group_id(1) * GROUP_HEIGHT;
    const int first_x = group_x + item_x * XWPT;
    const int first_y = group_y + item_y * YWPT;

#if CACHE
    __local float tile[TILE_HEIGHT * TILE_PITCH] __attribute__((aligned(64)));
    const int tile_x = group_x - HALO;
    const int tile_y = group_y - RADIUS;
    const bool tile_within = tile_x >= 0 && tile_x + TILE_WIDTH <= width
        && tile_y >= 0 && tile_y + TILE_HEIGHT <= height;
#if CACHE == 1
    if (tile_within) {
        __global const float* from = input + (size_t)tile_y * width + tile_x;
        for (int y = item_y; y < TILE_HEIGHT; y += YWG) {
            for (int x = item_x; x < TILE_WIDTH; x += XWG) {
                tile[y * TILE_PITCH + x] = from[(size_t)y * width + x];
            }
        }
    } else {
        LOOP for (int y = item_y; y < TILE_HEIGHT; y += YWG) {
            LOOP for (int x = item_x; x < TILE_WIDTH; x += XWG) {
                tile[y * TILE_PITCH + x] =
                    pixel(input, width, height, border, tile_x + x, tile_y + y);
            }
        }
    }
#else
    UNROLL for (int r = 0; r < YWPT; r++) {
        const int y = item_y * YWPT + r;
        UNROLL for (int v = 0; v < VECTORS; v++) {
            const int x = item_x * XWPT + v * VW;
            // The last helpers' blocks may end outside.
            if (y < TILE_HEIGHT && x < TILE_WIDTH) {
                __local float* to = tile + y * TILE_PITCH + x;
                if (tile_within) {
                    *(__local vector*)to =
                        LOAD_ROW(input + (size_t)(tile_y + y) * width + tile_x + x);
                } else {
                    LOOP for (int i = 0; i < VW; i++) {
                        to[i] = pixel(input, width, height, border, tile_x + x + i, tile_y + y);
                    }
                }
            }
        }
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item_x >= XWG || item_y >= YWG) {
        return;
    }
#endif
    if (first_x >= width || first_y >= height) {
        return;
    }

    vector sums[YWPT][VECTORS];
    UNROLL for (int r = 0; r < YWPT; r++) {
        UNROLL for (int v = 0; v < VECTORS; v++) {
            sums[r][v] = 0.0f;
        }
    }

#if CACHE
    __local const float* window = tile + item_y * YWPT * TILE_PITCH + item_x * XWPT + LEAD;
#define TILE_ROW(y) __local const float* row = window + (y) * TILE_PITCH;
    CONVOLVE(TILE_ROW, FILTER_LOOP)
#else
    const int window_x = first_x - RADIUS;
    const int window_y = first_y - RADIUS;
    if (window_x >= 0 && window_x + WINDOW_WIDTH <= width
        && window_y >= 0 && window_y + WINDOW_HEIGHT <= height) {
        __global const float* window = input + (size_t)window_y * width + window_x;
#define ROW_WITHIN(y) __global const float* row = window + (size_t)(y) * width;
        CONVOLVE(ROW_WITHIN, FILTER_LOOP)
    } else {
        // Few work-items come here: their code stays small. Each pixel is looked up once, and not once
        // for each weight.
#define ROW_AT_BORDER(y)                                                                      \
    float row[WINDOW_WIDTH];                                                                  \
    LOOP for (int x = 0; x < WINDOW_WIDTH; x++) {                                             \
        row[x] = pixel(input, width, height, border, window_x + x, window_y + (y));           \
    }
        CONVOLVE(ROW_AT_BORDER, LOOP)
    }
#endif

    UNROLL for (int r = 0; r < YWPT; r++) {
        const int y = first_y + r;
        UNROLL for (int v = 0; v < VECTORS; v++) {
            const int x = first_x + v * VW;
            __global float* to = output + (size_t)y * width + x;
            if (y < height && x + VW <= width) {
                STORE_ROW(sums[r][v], to);
            } else if (y < height && x < width) {
                float lanes[VW];
                STORE(sums[r][v], lanes);
                for (int i = 0; x + i < width; i++) {
                    to[i] = lanes[i];
                }
            }
        }
    }
}
