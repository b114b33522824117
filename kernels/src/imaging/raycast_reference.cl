// The definition of raycast.cl's picture, a pixel for each work-item, and a view for the tuner.
#include "ray.cl"

__kernel void imaging_raycast_reference(const int width, const int height, const int size_x, const int size_y,
                                        const int size_z, const float cutoff, __global const float4* restrict view,
                                        __global const uchar* restrict volume, __global const float4* restrict transfer,
                                        __global const float4* restrict constant_transfer,
                                        __global float4* restrict output) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const float3 size = (float3)(size_x, size_y, size_z);
    const float3 start = ray_start(view, x, y);
    float4 colour = 0.0f;
    float transparency = 1.0f;
    for (int i = 0; i < (int)view[ALONG].w && transparency > cutoff; i++) {
        const float3 at = position(start, view[ALONG].xyz, i);
        if (is_within(at, size)) {
            const int3 voxel = convert_int3(at);
            const float4 sample = transfer[volume[((size_t)voxel.z * size_y + voxel.y) * size_x + voxel.x]];
            colour += transparency * sample;
            transparency *= 1.0f - sample.w;
        }
    }
    output[(size_t)y * width + x] = colour;
}

// The volume from above and aside, a sample for each voxel; its diagonal fills the picture.
__kernel void oblique_view(const int width, const int height, const int size_x, const int size_y, const int size_z,
                           __global float4* restrict view) {
    const float size[3] = {size_x, size_y, size_z};
    const float diagonal = sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
    // A rotation by 30 degrees, then one by 20 degrees.
    const float right[3] = {0.8660254f, 0.0f, -0.5f};
    const float below[3] = {-0.1710101f, 0.9396926f, -0.2961981f};
    const float away[3] = {0.4698463f, 0.3420201f, 0.8137977f};
    const float spacing = diagonal / min(width, height);
    __global float* components = (__global float*)view;
    for (int axis = 0; axis < 3; axis++) {
        const float across = 0.5f * spacing * (width - 1) * right[axis];
        const float down = 0.5f * spacing * (height - 1) * below[axis];
        components[4 * ORIGIN + axis] = 0.5f * size[axis] - 0.5f * diagonal * away[axis] - across - down;
        components[4 * ACROSS + axis] = spacing * right[axis];
        components[4 * DOWN + axis] = spacing * below[axis];
        components[4 * ALONG + axis] = away[axis];
    }
    components[4 * ORIGIN + 3] = 0.0f;
    components[4 * ACROSS + 3] = 0.0f;
    components[4 * DOWN + 3] = 0.0f;
    components[4 * ALONG + 3] = ceil(diagonal);
}

// The same table once more.
__kernel void copy_of_table(__global const float4* restrict transfer, __global float4* restrict constant_transfer) {
    constant_transfer[get_global_id(0)] = transfer[get_global_id(0)];
}
