// How far each pixel of the left picture lies to the left in the right picture: the disparity d, 0 <= d <
// DISPARITIES, for which
//
//   sum over i, j from -REACH to REACH of |left(x + i, y + j) - right(x + i - d, y + j)|
//
// is least; the smallest of several. Beyond the edges there is the nearest pixel.
//
//   WGX, WGY                 the work-items of a work-group
//   PPX, PPY                 the pixels that each of them computes, a work-group apart
//   LEFT, RIGHT              where a picture is: a buffer, or an image
//   LEFT_LOCAL, RIGHT_LOCAL  whether a work-group first copies its part of the picture to local memory
//   UNROLL_DISPARITY, UNROLL_X, UNROLL_Y   how often the loops over d, i and j are unrolled, by a pragma

#define REACH (WINDOW / 2)
#define GROUP_WIDTH (WGX * PPX)
#define GROUP_HEIGHT (WGY * PPY)
#define TILE_HEIGHT (GROUP_HEIGHT + WINDOW - 1)
#define LEFT_WIDTH (GROUP_WIDTH + WINDOW - 1)
#define RIGHT_WIDTH (LEFT_WIDTH + DISPARITIES - 1)

#define TEXT(words) #words
#define UNROLLED(times) _Pragma(TEXT(unroll times))

__constant sampler_t EDGE = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

#define PIXEL_OF_IMAGE(picture, column, row) ((int)read_imageui(picture, EDGE, (int2)(column, row)).x)
#define PIXEL_OF_BUFFER(picture, column, row) \
    ((int)picture[(size_t)clamp(row, 0, height - 1) * width + clamp(column, 0, width - 1)])

#if defined(LEFT_image)
#define LEFT_PICTURE read_only image2d_t left
#define LEFT_PIXEL(x, y) PIXEL_OF_IMAGE(left, x, y)
#else
#define LEFT_PICTURE __global const uchar* restrict left
#define LEFT_PIXEL(x, y) PIXEL_OF_BUFFER(left, x, y)
#endif
#if defined(RIGHT_image)
#define RIGHT_PICTURE read_only image2d_t right
#define RIGHT_PIXEL(x, y) PIXEL_OF_IMAGE(right, x, y)
#else
#define RIGHT_PICTURE __global const uchar* restrict right
#define RIGHT_PIXEL(x, y) PIXEL_OF_BUFFER(right, x, y)
#endif

// A tile's pixels, by the work-items in turns; its upper left one is (from_x, from_y) of the picture.
#define COPY(tile, tile_width, PIXEL, from_x, from_y)             \
    for (int y = item_y; y < TILE_HEIGHT; y += WGY) {             \
        for (int x = item_x; x < (tile_width); x += WGX) {        \
            const int column = (from_x) + x;                      \
            const int row = (from_y) + y;                         \
            tile[y * (tile_width) + x] = (uchar)PIXEL(column, row); \
        }                                                         \
    }

__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1)))
void imaging_stereo(const int width, const int height, LEFT_PICTURE, RIGHT_PICTURE,
                    __global ushort* restrict disparity) {
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const int group_x = get_group_id(0) * GROUP_WIDTH;
    const int group_y = get_group_id(1) * GROUP_HEIGHT;

#if LEFT_LOCAL
    __local uchar left_tile[TILE_HEIGHT * LEFT_WIDTH];
    COPY(left_tile, LEFT_WIDTH, LEFT_PIXEL, group_x - REACH, group_y - REACH)
#define READ_LEFT(x, y) ((int)left_tile[((y) - group_y + REACH) * LEFT_WIDTH + (x) - group_x + REACH])
#else
#define READ_LEFT(x, y) LEFT_PIXEL(x, y)
#endif
#if RIGHT_LOCAL
    __local uchar right_tile[TILE_HEIGHT * RIGHT_WIDTH];
    const int right_x = group_x - REACH - (DISPARITIES - 1);
    COPY(right_tile, RIGHT_WIDTH, RIGHT_PIXEL, right_x, group_y - REACH)
#define READ_RIGHT(x, y) ((int)right_tile[((y) - group_y + REACH) * RIGHT_WIDTH + (x) - right_x])
#else
#define READ_RIGHT(x, y) RIGHT_PIXEL(x, y)
#endif
#if LEFT_LOCAL || RIGHT_LOCAL
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    for (int r = 0; r < PPY; r++) {
        const int y = group_y + r * WGY + item_y;
        for (int c = 0; c < PPX; c++) {
            const int x = group_x + c * WGX + item_x;
            if (x < width && y < height) {
                uint least = UINT_MAX;
                int best = 0;
                UNROLLED(UNROLL_DISPARITY) for (int d = 0; d < DISPARITIES; d++) {
                    uint sum = 0;
                    UNROLLED(UNROLL_Y) for (int j = -REACH; j <= REACH; j++) {
                        UNROLLED(UNROLL_X) for (int i = -REACH; i <= REACH; i++) {
                            sum += abs_diff(READ_LEFT(x + i, y + j), READ_RIGHT(x + i - d, y + j));
                        }
                    }
                    if (sum < least) {
                        least = sum;
                        best = d;
                    }
                }
                disparity[(size_t)y * width + x] = (ushort)best;
            }
        }
    }
}
