// 2D convolution of a one-channel float picture with a FILTER x FILTER filter, FILTER odd. What lies
// outside the picture has the value of the nearest pixel (clamp to edge).
//
// Macros, one for each parameter of the tunable in src/kernel.rs:
//   WGX, WGY     the work-group, work-items
//   WPTX, WPTY   pixels each work-item computes
//   VW           pixels next to each other which it computes with one vector
//   CACHE        whether a work-group first copies its part of the picture to local memory
//   PAD          whether the rows of that copy are one element longer, against bank conflicts
//   UNROLL_...   none, columns or all loops over the filter are unrolled
//
// A work-item computes WPTX / VW vectors in each of its WPTY rows. The vectors of one row are
// WGX * VW pixels apart, so that neighbouring work-items access neighbouring memory.

#define RADIUS (FILTER / 2)
#define VECTORS (WPTX / VW)
#define TILE_WIDTH (WGX * WPTX + FILTER - 1)
#define TILE_HEIGHT (WGY * WPTY + FILTER - 1)
#define TILE_PITCH (TILE_WIDTH + PAD)

#define LOOP _Pragma("unroll 1")
#define UNROLL_FULLY _Pragma("unroll")
#if UNROLL_all
#define UNROLL_ROWS UNROLL_FULLY
#else
#define UNROLL_ROWS LOOP
#endif
#if UNROLL_none
#define UNROLL_COLUMNS LOOP
#else
#define UNROLL_COLUMNS UNROLL_FULLY
#endif

#if VW == 1
typedef float vector;
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#else
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(float, VW) vector;
#define LOAD(p) JOIN(vload, VW)(0, p)
#define STORE(v, p) JOIN(vstore, VW)(v, 0, p)
#endif

// VW pixels from (x, y) on, each with its coordinates clamped to the picture.
vector load_clamped(__global const float* input, int width, int height, int x, int y) {
    __global const float* row = input + (size_t)clamp(y, 0, height - 1) * width;
    float lanes[VW];
    for (int i = 0; i < VW; i++) {
        lanes[i] = row[clamp(x + i, 0, width - 1)];
    }
    return LOAD(lanes);
}

// Adds up a work-item's pixels; READ(x, y) are VW pixels of its filter window. Each row of the window
// is read once and goes into every row of results that it belongs to.
#define CONVOLVE(READ, ROWS, COLUMNS)                                               \
    ROWS for (int row = 0; row < FILTER + WPTY - 1; row++) {                        \
        COLUMNS for (int column = 0; column < FILTER; column++) {                   \
            _Pragma("unroll") for (int v = 0; v < VECTORS; v++) {                   \
                const vector pixels = READ(column + v * WGX * VW, row);             \
                _Pragma("unroll") for (int r = 0; r < WPTY; r++) {                  \
                    const int line = row - r;                                       \
                    if (line >= 0 && line < FILTER) {                               \
                        sums[r][v] += weights[line * FILTER + column] * pixels;     \
                    }                                                               \
                }                                                                   \
            }                                                                       \
        }                                                                           \
    }

__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1)))
void convolve(const uint width_, const uint height_, __constant float* weights,
            __global const float* input, __global float* output) {
    const int width = width_;
    const int height = height_;
    const int local_x = get_local_id(0);
    const int local_y = get_local_id(1);
    const int group_x = get_group_id(0) * (WGX * WPTX);
    const int group_y = get_group_id(1) * (WGY * WPTY);
    const int first_x = group_x + local_x * VW;
    const int first_y = group_y + local_y * WPTY;

    vector sums[WPTY][VECTORS];
    for (int r = 0; r < WPTY; r++) {
        for (int v = 0; v < VECTORS; v++) {
            sums[r][v] = 0.0f;
        }
    }

#if CACHE
    __local float tile[TILE_HEIGHT * TILE_PITCH];
    for (int y = local_y; y < TILE_HEIGHT; y += WGY) {
        const int from_y = clamp(group_y + y - RADIUS, 0, height - 1);
        __global const float* row = input + (size_t)from_y * width;
        for (int x = local_x; x < TILE_WIDTH; x += WGX) {
            tile[y * TILE_PITCH + x] = row[clamp(group_x + x - RADIUS, 0, width - 1)];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const float* window = tile + local_y * WPTY * TILE_PITCH + local_x * VW;
#define READ_TILE(x, y) LOAD(window + (y) * TILE_PITCH + (x))
    CONVOLVE(READ_TILE, UNROLL_ROWS, UNROLL_COLUMNS)
#else
    const int left = first_x - RADIUS;
    const int top = first_y - RADIUS;
    const int right = first_x + (VECTORS - 1) * WGX * VW + VW - 1 + RADIUS;
    const int bottom = first_y + WPTY - 1 + RADIUS;
    if (left >= 0 && top >= 0 && right < width && bottom < height) {
        __global const float* window = input + (size_t)top * width + left;
#define READ_INSIDE(x, y) LOAD(window + (size_t)(y) * width + (x))
        CONVOLVE(READ_INSIDE, UNROLL_ROWS, UNROLL_COLUMNS)
    } else {
#define READ_EDGE(x, y) load_clamped(input, width, height, left + (x), top + (y))
        // Few work-groups come here: their code stays small.
        CONVOLVE(READ_EDGE, LOOP, LOOP)
    }
#endif

    for (int r = 0; r < WPTY; r++) {
        const int y = first_y + r;
        for (int v = 0; v < VECTORS; v++) {
            const int x = first_x + v * WGX * VW;
            if (y < height && x + VW <= width) {
                STORE(sums[r][v], output + (size_t)y * width + x);
            } else if (y < height && x < width) {
                float lanes[VW];
                STORE(sums[r][v], lanes);
                for (int i = 0; x + i < width; i++) {
                    output[(size_t)y * width + x + i] = lanes[i];
                }
            }
        }
    }
}

// The definition, one pixel for each work-item: what results are compared with.
__kernel void convolve_reference(const uint width, const uint height, __constant float* weights,
                               __global const float* input, __global float* output) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;
    for (int j = 0; j < FILTER; j++) {
        const int from_y = clamp(y + j - RADIUS, 0, (int)height - 1);
        for (int i = 0; i < FILTER; i++) {
            const int from_x = clamp(x + i - RADIUS, 0, (int)width - 1);
            sum += weights[j * FILTER + i] * input[(size_t)from_y * width + from_x];
        }
    }
    output[(size_t)y * width + x] = sum;
}
