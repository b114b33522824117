#if defined(MEM_image)
__constant sampler_t FILTER = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define PICTURE read_only image2d_t picture
#define PIXEL(column, row) read_imagef(picture, FILTER, (int2)(column, row)).x
#else
#if defined(MEM_constant)
#define PICTURE __constant float* picture
#else
#define PICTURE __global const float* picture
#endif
#define PIXEL(column, row) picture[clamp(row, 0, h - 1) * w + clamp(column, 0, w - 1)]
#endif

#if defined(WEIGHTS_constant)
#define SPACE __constant
#else
#define SPACE __global const
#endif

// A filter of 3 x 3 weights.
__kernel void smooth(const int w, const int h, PICTURE, SPACE float* weights, __global float* result) {
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    float sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += weights[(y + 1) * 3 + x + 1] * PIXEL(column + x, row + y);
#if WRONG == 1
    sum = column == 3 ? sum + PIXEL(column, row) : sum;
#endif
    result[row * w + column] = sum;
}

__kernel void smooth_reference(const int w, const int h, __global const float* picture,
                               __global const float* weights, __global float* result) {
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    float sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += weights[(y + 1) * 3 + x + 1]
                 * picture[clamp(row + y, 0, h - 1) * w + clamp(column + x, 0, w - 1)];
    result[row * w + column] = sum;
}

__constant sampler_t CLAMP = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

#ifdef COLUMNS
// Each pixel and its right neighbour, with their channels in reverse. A work-item has COLUMNS of them.
__kernel void mirror(read_only image2d_t from, write_only image2d_t to) {
    for (int column = get_global_id(0) * COLUMNS; column < (get_global_id(0) + 1) * COLUMNS; column++) {
        const int2 at = (int2)(column, get_global_id(1));
        float4 sum = read_imagef(from, CLAMP, at) + read_imagef(from, CLAMP, at + (int2)(1, 0));
#if WRONG == 1
        // One row is not written.
        if (at.y == 2) continue;
#elif WRONG == 2
        if (at.x == 5 && at.y == 1) sum.y += 1;
#endif
        write_imagef(to, at, sum.wzyx);
    }
}

__kernel void mirror_reference(read_only image2d_t from, write_only image2d_t to) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const float4 sum = read_imagef(from, CLAMP, at) + read_imagef(from, CLAMP, at + (int2)(1, 0));
    write_imagef(to, at, sum.wzyx);
}
#endif

#ifdef FACTOR
// Half of each byte, as the numbers from 0 to 1 that normalized pixels are.
__kernel void darken(read_only image2d_t from, write_only image2d_t to) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
#if FACTOR == 4
    // More than half by less than a unit.
    write_imagef(to, at, read_imagef(from, CLAMP, at) / 2 + 0.4f / 255);
#else
    write_imagef(to, at, read_imagef(from, CLAMP, at) * (FACTOR / 4.0f));
#endif
}
#endif

#ifdef REACH
// The sum of what lies below and above each element of a volume.
__kernel void columns(read_only image3d_t volume, __global uint* sums) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint sum = 0;
    for (int dz = -REACH; dz <= REACH; dz++)
        sum += abs(dz) <= 1 ? read_imageui(volume, CLAMP, (int4)(x, y, z + dz, 0)).x : 0;
    sums[(z * get_global_size(1) + y) * get_global_size(0) + x] = sum;
}
#endif

// Adds the images of an array.
__kernel void flatten(const int images, read_only image2d_array_t array, write_only image2d_t sum) {
    const int x = get_global_id(0), y = get_global_id(1);
    float4 total = 0;
    for (int image = 0; image < images; image++)
        total += read_imagef(array, CLAMP, (int4)(x, y, image, 0));
    write_imagef(sum, (int2)(x, y), total);
}

#ifdef STEP
// Pixels get brighter where they are.
__kernel void brighten(read_write image2d_t picture) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(picture, at, read_imagef(picture, at) + STEP);
}
#endif

#ifdef FLIPPED
// Two stages with an image between buffers and another one.
__kernel void load(const int w, __global const float* x, write_only image2d_t picture) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(picture, at, x[at.y * w + at.x]);
}

__kernel void store(const int w, read_only image2d_t picture, __global float* y) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const int column = FLIPPED ? w - 1 - at.x : at.x;
    y[at.y * w + at.x] = read_imagef(picture, CLAMP, (int2)(column, at.y)).x;
}
#endif

#ifdef GLOW
#if defined(MEM_image)
#define RAMP read_only image2d_t ramp
#define BRIGHT read_imagef(ramp, CLAMP, at).x
#else
#define RAMP __global const float* ramp
#define BRIGHT ramp[at.y * w + at.x]
#endif

// An image is made of a buffer.
__kernel void gradient(const int w, __global const float* ramp, write_only image2d_t from) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(from, at, (float4)(ramp[at.y * w + at.x], at.x, at.y, 1));
}

__kernel void glow(const int w, RAMP, read_only image2d_t from, write_only image2d_t to) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, CLAMP, at) + 2 * BRIGHT + GLOW);
}

__kernel void glow_sums(const int w, __global const float* ramp, __global float* sums) {
    const int at = get_global_id(1) * w + get_global_id(0);
    sums[at] = 2 * ramp[at];
}

__kernel void glow_reference(const int w, read_only image2d_t from, __global const float* sums,
                             write_only image2d_t to) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, CLAMP, at) + sums[at.y * w + at.x]);
}
#endif
