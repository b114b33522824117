// The picture with the margin that box.cl reads, from the picture without it.
//
//   WG     the work-items of a work-group, beside each other
//   ROWS   the rows that each of them copies
#include "../conv2d/picture.cl"

#define MARGIN (SIZE / 2)

__kernel void imaging_pad(const int width, const int height, const int border,
                          __global const float* restrict plain, __global float* restrict picture) {
    const int part_x = (int)get_group_id(0) * WG - MARGIN;
    const int part_y = (int)get_group_id(1) * ROWS - MARGIN;
    const int x = part_x + (int)get_local_id(0);
    const bool is_inside = part_x >= 0 && part_x + WG <= width;
    for (int y = part_y; y < min(part_y + ROWS, height + MARGIN); y++) {
        __global float* to = picture + (size_t)(y + MARGIN) * (width + 2 * MARGIN) + x + MARGIN;
        // The same for a whole work-group: what finds pixels beyond the edges takes long.
        if (is_inside && y >= 0 && y < height) {
            *to = plain[(size_t)y * width + x];
        } else if (x < width + MARGIN) {
            *to = pixel(plain, width, height, border, x, y);
        }
    }
}
