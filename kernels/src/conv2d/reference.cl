// The definition of a 2D convolution, a pixel for each work-item; see direct.cl.
#include "picture.cl"

__kernel void conv2d_reference(const int width, const int height, const int border,
                               __constant float* weights,
                               __global const float* restrict input,
                               __global float* restrict output) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;
    for (int j = 0; j < FILTER; j++) {
        for (int i = 0; i < FILTER; i++) {
            sum += weights[j * FILTER + i]
                * pixel(input, width, height, border, x + i - FILTER / 2, y + j - FILTER / 2);
        }
    }
    output[(size_t)y * width + x] = sum;
}
