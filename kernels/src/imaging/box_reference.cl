// The definition of box.cl's sums, a pixel for each work-item, which reads the margin; and a picture for the tuner.
#include "../conv2d/picture.cl"

__kernel void imaging_box_reference(const int width, const int height, const int border, const float scale,
                                    __global const float* restrict picture, __global float* restrict output) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;
    for (int j = 0; j < SIZE; j++) {
        for (int i = 0; i < SIZE; i++) {
            sum += picture[(size_t)(y + j) * (width + SIZE - 1) + x + i];
        }
    }
    output[(size_t)y * width + x] = scale * sum;
}

// Noise from -1 to 1 with a margin; the finaliser of MurmurHash3 mixes the bits.
__kernel void noise_with_margin(const int width, const int height, const int border,
                                __global float* restrict picture) {
    const int x = inside((int)get_global_id(0) - SIZE / 2, width, border);
    const int y = inside((int)get_global_id(1) - SIZE / 2, height, border);
    uint bits = (uint)(y * width + x) * 0x9e3779b1u;
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
    picture[(size_t)get_global_id(1) * (width + SIZE - 1) + get_global_id(0)] =
        (float)(bits ^ (bits >> 16)) / 2147483648.0f - 1.0f;
}
