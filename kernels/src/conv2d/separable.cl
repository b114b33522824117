// 2D convolution of a one-channel picture of floats with weights that are the products of a column and
// a row of FILTER numbers, FILTER odd:
//
//   output(x, y) = sum over j of column(j) * sum over i of row(i) * input(x + i - RADIUS, y + j - RADIUS)
//
//   XWG, YWG     the work-items of a work-group
//   XWPT, YWPT   the columns and the rows that each of them computes
//   VW           pixels that are read, computed and stored with one vector
//   LOCAL        whether the work-group puts the sums of rows into local memory first; otherwise each
//                work-item computes those that it needs, also those that its neighbours above and below need
//   UNR          0: no loop over the filter is unrolled, 1: these are, 2: also the one over rows
//
// ROW_ALIGNMENT is the largest power of two up to 16 that the width is a multiple of.
#include "picture.cl"

#define RADIUS (FILTER / 2)
#define WINDOW_HEIGHT (YWPT + FILTER - 1)
#define GROUP_WIDTH (XWG * XWPT)
#define GROUP_HEIGHT (YWG * YWPT)
#define TILE_HEIGHT (GROUP_HEIGHT + FILTER - 1)
#define VECTORS (XWPT / VW)

#define UNROLL _Pragma("unroll")
#define LOOP _Pragma("unroll 1")
#if UNR
#define FILTER_LOOP UNROLL
#else
#define FILTER_LOOP LOOP
#endif
#if UNR == 2
#define ROW_LOOP UNROLL
#else
#define ROW_LOOP LOOP
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

// Where every row begins with a vector, those of results are aligned, and the compiler may use one
// instruction where it must otherwise use VW.
#if ROW_ALIGNMENT % VW == 0
#define STORE_ROW(value, to) (*(__global vector*)(to) = (value))
#else
#define STORE_ROW STORE
#endif

// The work-item's vectors lie apart: work-items beside each other read and store what is beside each
// other.
#define VECTOR_X(v) (((v) * XWG + item_x) * VW)

// The sums of the windows that begin at `from`, all of which are within the picture.
vector sum_within(__constant float* row, __global const float* restrict from) {
    vector sum = 0.0f;
    FILTER_LOOP for (int i = 0; i < FILTER; i++) {
        sum += row[i] * LOAD(from + i);
    }
    return sum;
}

// The sums of the windows around (x, y) and the VW - 1 pixels right of it, wherever these are.
vector row_sum(__global const float* restrict input, const int width, const int height,
               const int border, __constant float* row, const int x, int y) {
    vector sum = 0.0f;
    if (y < 0 || y >= height) {
        if (border == BORDER_ZERO) {
            return sum;
        }
        y = inside(y, height, border);
    }
    if (x >= RADIUS && x + VW + RADIUS <= width) {
        return sum_within(row, input + (size_t)y * width + x - RADIUS);
    }
    // Each pixel is looked up once, not once for each of its windows.
    float window[VW + FILTER - 1];
    LOOP for (int i = 0; i < VW + FILTER - 1; i++) {
        window[i] = pixel(input, width, height, border, x - RADIUS + i, y);
    }
    LOOP for (int i = 0; i < FILTER; i++) {
        sum += row[i] * LOAD(window + i);
    }
    return sum;
}

// Goes down `count` rows and stores results; ROW_SUM(y, v) is the sum of the row y of what is needed.
// sums[v][k] belongs to the result that is complete k + 1 rows farther down: each is moved up as it is
// added to, which costs nothing once the loop over rows is unrolled.
#define GO_DOWN(ROWS, count, ROW_SUM)                                                          \
    {                                                                                          \
        vector sums[VECTORS][FILTER];                                                          \
        UNROLL for (int v = 0; v < VECTORS; v++) {                                             \
            FILTER_LOOP for (int k = 0; k < FILTER; k++) {                                     \
                sums[v][k] = 0.0f;                                                             \
            }                                                                                  \
        }                                                                                      \
        ROWS for (int y = 0; y < (count); y++) {                                               \
            UNROLL for (int v = 0; v < VECTORS; v++) {                                         \
                const vector sum = ROW_SUM(y, v);                                              \
                const vector result = sums[v][0] + column[FILTER - 1] * sum;                   \
                FILTER_LOOP for (int k = 0; k < FILTER - 1; k++) {                             \
                    sums[v][k] = sums[v][k + 1] + column[FILTER - 2 - k] * sum;                \
                }                                                                              \
                if (y >= FILTER - 1) {                                                         \
                    store(output, width, height, group_x + VECTOR_X(v),                        \
                          first_y + y - (FILTER - 1), result);                                 \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
    }

// Stores what is within the picture.
void store(__global float* restrict output, const int width, const int height, const int x, const int y,
           const vector result) {
    __global float* to = output + (size_t)y * width + x;
    if (y < height && x + VW <= width) {
        STORE_ROW(result, to);
    } else if (y < height && x < width) {
        float lanes[VW];
        STORE(result, lanes);
        for (int i = 0; x + i < width; i++) {
            to[i] = lanes[i];
        }
    }
}

// The hint keeps compilers that would make vectors of work-items from doing so where there are vectors.
__kernel __attribute__((reqd_work_group_size(XWG, YWG, 1), vec_type_hint(vector)))
void conv2d_separable(const int width, const int height, const int border,
                      __constant float* factors,
                      __global const float* restrict input,
                      __global float* restrict output) {
    __constant float* column = factors;
    __constant float* row = factors + FILTER;
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const int group_x = get_group_id(0) * GROUP_WIDTH;
    const int group_y = get_group_id(1) * GROUP_HEIGHT;
    const int first_y = group_y + item_y * YWPT;

#if LOCAL
    __local float tile[TILE_HEIGHT * GROUP_WIDTH] __attribute__((aligned(64)));
    LOOP for (int y = item_y; y < TILE_HEIGHT; y += YWG) {
        UNROLL for (int v = 0; v < VECTORS; v++) {
            // No result needs what is farther away.
            if (group_y + y - RADIUS < height + RADIUS && group_x + VECTOR_X(v) < width) {
                *(__local vector*)(tile + y * GROUP_WIDTH + VECTOR_X(v)) =
                    row_sum(input, width, height, border, row, group_x + VECTOR_X(v), group_y + y - RADIUS);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const float* part = tile + item_y * YWPT * GROUP_WIDTH;
#define LOCAL_SUM(y, v) *(__local const vector*)(part + (y) * GROUP_WIDTH + VECTOR_X(v))
    GO_DOWN(ROW_LOOP, WINDOW_HEIGHT, LOCAL_SUM)
#else
    if (group_x + VECTOR_X(0) >= width || first_y >= height) {
        return;
    }
    const int from_y = first_y - RADIUS;
#if UNR == 2
    const int end_x = group_x + VECTOR_X(VECTORS - 1) + VW;
    if (group_x + VECTOR_X(0) >= RADIUS && end_x + RADIUS <= width && from_y >= 0
        && from_y + WINDOW_HEIGHT <= height) {
        __global const float* from = input + (size_t)from_y * width + group_x - RADIUS;
#define SUM_WITHIN(y, v) sum_within(row, from + (size_t)(y) * width + VECTOR_X(v))
        GO_DOWN(ROW_LOOP, WINDOW_HEIGHT, SUM_WITHIN)
        return;
    }
#endif
    // Where rows are unrolled, few work-items come here: their code stays small.
    const int needed = min(WINDOW_HEIGHT, height - first_y + FILTER - 1);
#define SUM_ANYWHERE(y, v) \
    row_sum(input, width, height, border, row, group_x + VECTOR_X(v), from_y + (y))
    GO_DOWN(LOOP, needed, SUM_ANYWHERE)
#endif
}
