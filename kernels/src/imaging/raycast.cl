// A picture of a volume: each pixel's ray takes samples from front to back, and adds up their colours.
//
//   position(i) = start + i * along, where start = origin + x * across + y * down, for 0 <= i < steps
//   colour += transparency * table[volume(position(i))]
//   transparency *= 1 - table[volume(position(i))].w
//
// over all i for which the position is inside of the volume; the voxel is that which it lies in. Colours are
// multiplied by their opacity, the last component, already. A ray ends early where its transparency is CUTOFF
// at most, which is looked at every UNROLL samples.
//
//   WGX, WGY        the work-items of a work-group
//   PPX, PPY        the pixels that each of them computes
//   VOLUME          where the volume is: a buffer, or an image
//   TABLE           where the transfer function is: a buffer, or an image
//   TABLE_CONSTANT  whether it is read from its copy in constant memory instead
//   TABLE_LOCAL     whether a work-group first copies it to local memory
//   INTERLEAVED     whether a work-item's pixels lie a work-group apart, or beside each other
//   UNROLL          how many samples are taken in one turn of the loop, by macros
#include "ray.cl"

#define ENTRIES 256
#define GROUP_WIDTH (WGX * PPX)
#define GROUP_HEIGHT (WGY * PPY)

__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

#if defined(VOLUME_image)
#define VOXELS read_only image3d_t volume
#define VOXEL(at) read_imageui(volume, NEAREST, (int4)((at).x, (at).y, (at).z, 0)).x
#else
#define VOXELS __global const uchar* restrict volume
#define VOXEL(at) volume[((size_t)(at).z * size_y + (at).y) * size_x + (at).x]
#endif

#if defined(TABLE_image)
#define TRANSFER read_only image2d_t transfer
#else
#define TRANSFER __global const float4* restrict transfer
#endif
#if defined(TABLE_CONSTANT_constant)
#define CONSTANT_TRANSFER __constant float4* constant_transfer
#define STORED_COLOUR(value) constant_transfer[value]
#else
#define CONSTANT_TRANSFER __global const float4* restrict constant_transfer
#if defined(TABLE_image)
#define STORED_COLOUR(value) read_imagef(transfer, NEAREST, (int2)(value, 0))
#else
#define STORED_COLOUR(value) transfer[value]
#endif
#endif

#define SAMPLE(i)                                                   \
    {                                                               \
        const int3 voxel = convert_int3(position(start, along, i)); \
        const float4 sample = COLOUR(VOXEL(voxel));                 \
        colour += transparency * sample;                            \
        transparency *= 1.0f - sample.w;                            \
    }
#define SAMPLES_1(i) SAMPLE(i)
#define SAMPLES_2(i) SAMPLES_1(i) SAMPLES_1((i) + 1)
#define SAMPLES_4(i) SAMPLES_2(i) SAMPLES_2((i) + 2)
#define SAMPLES_8(i) SAMPLES_4(i) SAMPLES_4((i) + 4)
#define SAMPLES_16(i) SAMPLES_8(i) SAMPLES_8((i) + 8)
#define PASTE(a, b) a##b
#define SAMPLES(times, i) PASTE(SAMPLES_, times)(i)

__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1)))
void imaging_raycast(const int width, const int height, const int size_x, const int size_y, const int size_z,
                     const float cutoff, __global const float4* restrict view, VOXELS, TRANSFER,
                     CONSTANT_TRANSFER, __global float4* restrict output) {
    const int item_x = get_local_id(0);
    const int item_y = get_local_id(1);
    const int group_x = get_group_id(0) * GROUP_WIDTH;
    const int group_y = get_group_id(1) * GROUP_HEIGHT;

#if TABLE_LOCAL
    __local float4 table[ENTRIES];
    for (int entry = item_y * WGX + item_x; entry < ENTRIES; entry += WGX * WGY) {
        table[entry] = STORED_COLOUR(entry);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define COLOUR(value) table[value]
#else
#define COLOUR(value) STORED_COLOUR(value)
#endif

    const float3 size = (float3)(size_x, size_y, size_z);
    const float3 along = view[ALONG].xyz;
    for (int r = 0; r < PPY; r++) {
        const int y = group_y + (INTERLEAVED ? r * WGY + item_y : item_y * PPY + r);
        for (int c = 0; c < PPX; c++) {
            const int x = group_x + (INTERLEAVED ? c * WGX + item_x : item_x * PPX + c);
            if (x < width && y < height) {
                const float3 start = ray_start(view, x, y);
                const int2 within = samples_within(start, along, size, (int)view[ALONG].w);
                float4 colour = 0.0f;
                float transparency = 1.0f;
                int i = within.x;
                for (; i + UNROLL <= within.y && transparency > cutoff; i += UNROLL) {
                    SAMPLES(UNROLL, i)
                }
                for (; i < within.y && transparency > cutoff; i++) {
                    SAMPLE(i)
                }
                output[(size_t)y * width + x] = colour;
            }
        }
    }
}
