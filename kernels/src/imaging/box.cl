// The sum of SIZE x SIZE pixels around each pixel of a picture, SIZE odd, times a factor:
//
//   output(x, y) = scale * sum over i, j from -MARGIN to MARGIN of picture(x + i, y + j)
//
//   WGX, WGY     the work-items of a work-group
//   PPX, PPY     the pixels that each of them computes
//   PICTURE      where the picture is: a buffer, or an image
//   LOCAL        whether a work-group first copies its part of the picture to local memory
//   PAD          whether pixels beyond the edges are read from the margin, or found inside each time
//   INTERLEAVED  whether a work-item's pixels lie a work-group apart, or beside each other
//   UNROLL       whether the loops over the window are unrolled, by a pragma
//
// The picture has a margin of MARGIN pixels on each side, which pad.cl fills.
#include "../conv2d/picture.cl"

#define MARGIN (SIZE / 2)
#define GROUP_WIDTH (WGX * PPX)
#define GROUP_HEIGHT (WGY * PPY)
#define TILE_WIDTH (GROUP_WIDTH + SIZE - 1)
#define TILE_HEIGHT (GROUP_HEIGHT + SIZE - 1)

#if UNROLL
#define WINDOW_LOOP _Pragma("unroll")
#else
#define WINDOW_LOOP _Pragma("unroll 1")
#endif

#if defined(PICTURE_image)
__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define STORAGE read_only image2d_t picture
#define STORED(column, row) read_imagef(picture, NEAREST, (int2)((column) + MARGIN, (row) + MARGIN)).x
#else
#define STORAGE __global const float* restrict picture
#define STORED(column, row) picture[(size_t)((row) + MARGIN) * (width + 2 * MARGIN) + (column) + MARGIN]
#endif

// The pixel at (x, y), at most MARGIN beyond an edge.
float near_pixel(STORAGE, const int width, const int height, const int border, const int x, const int y) {
#if !PAD
    if (x < 0 || x >= width || y < 0 || y >= height) {
        if (border == BORDER_ZERO) {
            return 0.0f;
        }
        const int column = inside(x, width, border);
        const int row = inside(y, height, border);
        return STORED(column, row);
    }
#endif
    return STORED(x, y);
}

__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1)))
void imaging_box(const int width, const int height, const int border, const float scale, STORAGE,
                 __global float* restrict output) {
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const int group_x = get_group_id(0) * GROUP_WIDTH;
    const int group_y = get_group_id(1) * GROUP_HEIGHT;

#if LOCAL
    __local float tile[TILE_HEIGHT * TILE_WIDTH];
    for (int y = item_y; y < TILE_HEIGHT; y += WGY) {
        for (int x = item_x; x < TILE_WIDTH; x += WGX) {
            // No result needs what is farther away.
            const int column = min(group_x + x - MARGIN, width + MARGIN - 1);
            const int row = min(group_y + y - MARGIN, height + MARGIN - 1);
            tile[y * TILE_WIDTH + x] = near_pixel(picture, width, height, border, column, row);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define READ(x, y) tile[((y) - group_y + MARGIN) * TILE_WIDTH + (x) - group_x + MARGIN]
#else
#define READ(x, y) near_pixel(picture, width, height, border, x, y)
#endif

    for (int r = 0; r < PPY; r++) {
        const int y = group_y + (INTERLEAVED ? r * WGY + item_y : item_y * PPY + r);
        for (int c = 0; c < PPX; c++) {
            const int x = group_x + (INTERLEAVED ? c * WGX + item_x : item_x * PPX + c);
            if (x < width && y < height) {
                float sum = 0.0f;
                WINDOW_LOOP for (int j = -MARGIN; j <= MARGIN; j++) {
                    WINDOW_LOOP for (int i = -MARGIN; i <= MARGIN; i++) {
                        sum += READ(x + i, y + j);
                    }
                }
                output[(size_t)y * width + x] = scale * sum;
            }
        }
    }
}
