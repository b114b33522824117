// The rays of a view: a buffer of four vectors, in voxels.

#define ORIGIN 0 // the first sample of the upper left pixel's ray
#define ACROSS 1 // from a pixel to the next in its row
#define DOWN 2   // from a row to the next
#define ALONG 3  // from a sample to the next; the last component is the number of samples

// `fma` rounds once, whatever the compiler does elsewhere: each configuration, and the host, finds the same voxel.

float3 ray_start(__global const float4* restrict view, const int x, const int y) {
    const float3 row = fma((float3)(y), view[DOWN].xyz, view[ORIGIN].xyz);
    return fma((float3)(x), view[ACROSS].xyz, row);
}

float3 position(const float3 start, const float3 along, const int i) {
    return fma((float3)(i), along, start);
}

bool is_within(const float3 at, const float3 size) {
    return at.x >= 0.0f && at.y >= 0.0f && at.z >= 0.0f && at.x < size.x && at.y < size.y && at.z < size.z;
}

// Narrows the samples from `near` to `far` to those between 0 and `size` on one axis, and a few beyond.
void narrow(const float start, const float along, const float size, float* near, float* far) {
    // Positions are rounded by less than this.
    const float slack = 0.01f;
    if (along != 0.0f) {
        const float a = (-slack - start) / along;
        const float b = (size + slack - start) / along;
        *near = fmax(*near, fmin(a, b));
        *far = fmin(*far, fmax(a, b));
    } else if (start < 0.0f || start >= size) {
        *far = -1.0f;
    }
}

// The first sample inside of the volume, and the one after the last.
int2 samples_within(const float3 start, const float3 along, const float3 size, const int steps) {
    float near = 0.0f;
    float far = (float)steps;
    narrow(start.x, along.x, size.x, &near, &far);
    narrow(start.y, along.y, size.y, &near, &far);
    narrow(start.z, along.z, size.z, &near, &far);
    if (!(near <= far)) {
        return (int2)(0, 0);
    }
    int first = max((int)near - 1, 0);
    int end = min((int)far + 2, steps);
    while (first < end && !is_within(position(start, along, first), size)) {
        first++;
    }
    while (end > first && !is_within(position(start, along, end - 1), size)) {
        end--;
    }
    return (int2)(first, end);
}
