// The definition of a 2D convolution with a column and a row, a pixel for each work-item; see separable.cl.
#include "picture.cl"

__kernel void conv2d_separable_reference(const int width, const int height, const int border,
                                         __constant float* factors,
                                         __global const float* restrict input,
                                         __global float* restrict output) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    float sum = 0.0f;
    for (int j = 0; j < FILTER; j++) {
        float row = 0.0f;
        for (int i = 0; i < FILTER; i++) {
            row += factors[FILTER + i]
                * pixel(input, width, height, border, x + i - FILTER / 2, y + j - FILTER / 2);
        }
        sum += factors[j] * row;
    }
    output[(size_t)y * width + x] = sum;
}
