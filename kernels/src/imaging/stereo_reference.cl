// The definition of stereo.cl's disparities, a pixel for each work-item.

int nearest(__global const uchar* restrict picture, const int width, const int height, const int x, const int y) {
    return picture[(size_t)clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

__kernel void imaging_stereo_reference(const int width, const int height, __global const uchar* restrict left,
                                       __global const uchar* restrict right, __global ushort* restrict disparity) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int reach = WINDOW / 2;
    uint least = UINT_MAX;
    int best = 0;
    for (int d = 0; d < DISPARITIES; d++) {
        uint sum = 0;
        for (int j = -reach; j <= reach; j++) {
            for (int i = -reach; i <= reach; i++) {
                sum += abs_diff(nearest(left, width, height, x + i, y + j),
                                nearest(right, width, height, x + i - d, y + j));
            }
        }
        if (sum < least) {
            least = sum;
            best = d;
        }
    }
    disparity[(size_t)y * width + x] = (ushort)best;
}
