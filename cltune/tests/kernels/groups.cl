// Kernels of groups of launches.

// -- sum: of a part for each work-group, then of the parts; or with atomics

__kernel void sum_reference(const uint n, __global const uint* x, __global uint* total) {
    uint sum = 0;
    for (uint i = 0; i < n; i++) sum += x[i];
    *total = sum;
}

uint sum_of_group(const uint n, __global const uint* x, __local uint* tile) {
    uint sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
    tile[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    if (get_local_id(0) == 0)
        for (uint i = 0; i < get_local_size(0); i++) sum += tile[i];
    return sum;
}

__kernel void sum_parts(const uint n, __global const uint* x, __global uint* parts, __local uint* tile) {
    const uint sum = sum_of_group(n, x, tile);
    if (get_local_id(0) == 0) parts[get_group_id(0)] = sum;
}

__kernel void sum_rest(const uint count, __global const uint* parts, __global uint* total) {
    uint sum = 0;
    for (uint i = 0; i < count; i++) sum += parts[i];
    *total = sum;
}

__kernel void sum_atomic(const uint n, __global const uint* x, __global uint* total, __local uint* tile) {
    const uint sum = sum_of_group(n, x, tile);
    if (get_local_id(0) == 0) atomic_add(total, sum);
}

// -- exclusive scan: of each block, of the blocks' sums, and both together

__kernel void scan_reference(const uint n, __global const uint* x, __global uint* y) {
    uint sum = 0;
    for (uint i = 0; i < n; i++) {
        y[i] = sum;
        sum += x[i];
    }
}

__kernel void scan_blocks(const uint block, __global const uint* x, __global uint* y, __global uint* sums) {
    const uint begin = get_global_id(0) * block;
    uint sum = 0;
    for (uint i = 0; i < block; i++) {
        y[begin + i] = sum;
        sum += x[begin + i];
    }
    sums[get_global_id(0)] = sum;
}

__kernel void scan_sums(const uint count, __global uint* sums) {
    uint sum = 0;
    for (uint i = 0; i < count; i++) {
        const uint own = sums[i];
        sums[i] = sum;
        sum += own;
    }
}

__kernel void scan_add(const uint block, __global uint* y, __global const uint* sums) {
    y[get_global_id(0)] += sums[get_global_id(0) / block];
}

// -- radix sort: the digits of each chunk are counted, the counts scanned, the keys moved

__kernel void sort_reference(const uint n, __global uint* keys) {
    for (uint i = 1; i < n; i++) {
        const uint key = keys[i];
        uint j = i;
        for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

#ifdef BITS
#define DIGITS (1 << BITS)

__kernel void sort_count(const uint shift, __global const uint* keys, __global uint* counts) {
    const uint chunk = get_global_id(0);
    for (uint digit = 0; digit < DIGITS; digit++) counts[digit * get_global_size(0) + chunk] = 0;
    for (uint i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++)
        counts[(keys[i] >> shift & (DIGITS - 1)) * get_global_size(0) + chunk]++;
}

__kernel void sort_move(const uint shift, __global const uint* keys, __global uint* moved, __global uint* counts) {
    const uint chunk = get_global_id(0);
    for (uint i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++)
        moved[counts[(keys[i] >> shift & (DIGITS - 1)) * get_global_size(0) + chunk]++] = keys[i];
}
#endif

// -- time steps of a stencil, FUSED of them in a launch

float heat_step(float left, float here, float right) {
    return here + 0.25f * (left - 2 * here + right);
}

__kernel void heat_reference(const uint n, const uint steps, __global float* x) {
    for (uint step = 0; step < steps; step++) {
        float left = 0;
        for (uint i = 0; i < n; i++) {
            const float here = x[i];
            x[i] = heat_step(left, here, i + 1 < n ? x[i + 1] : 0);
            left = here;
        }
    }
}

#ifdef FUSED
__kernel void heat(const uint n, __global const float* x, __global float* y) {
    float window[2 * FUSED + 1];
    const int i = get_global_id(0);
    for (int at = 0; at < 2 * FUSED + 1; at++) {
        const int from = i + at - FUSED;
        window[at] = from >= 0 && from < n ? x[from] : 0;
    }
    for (int step = 1; step <= FUSED; step++) {
        float left = window[step - 1];
        for (int at = step; at < 2 * FUSED + 1 - step; at++) {
            const float here = window[at];
            const int from = i + at - FUSED;
            window[at] = from >= 0 && from < n ? heat_step(left, here, window[at + 1]) : 0;
            left = here;
        }
    }
    y[i] = window[FUSED];
}
#endif

// -- a product whose inner dimension is split

__kernel void product(const uint n, const uint k, const uint parts,
                      __global const float* a, __global const float* b, __global float* c) {
    const uint row = get_global_id(1), column = get_global_id(0), part = get_global_id(2);
    float sum = 0;
    for (uint i = part * (k / parts); i < (part + 1) * (k / parts); i++) sum += a[row * k + i] * b[i * n + column];
    c[(part * get_global_size(1) + row) * n + column] = sum;
}

__kernel void product_reference(const uint m, const uint n, const uint k,
                                __global const float* a, __global const float* b, __global float* c) {
    const uint row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__kernel void add_parts(const uint count, const uint parts, __global const float* in, __global float* out) {
    float sum = 0;
    for (uint part = 0; part < parts; part++) sum += in[part * count + get_global_id(0)];
    out[get_global_id(0)] = sum;
}

// -- a separable filter with a picture between

float blur(float a, float b, float c) {
    return 0.25f * a + 0.5f * b + 0.25f * c;
}

__kernel void blur_rows_1(const uint w, __global const float* in, __global float* out) {
    const uint x = get_global_id(0);
    const uint at = get_global_id(1) * w + x;
    out[at] = blur(in[x > 0 ? at - 1 : at], in[at], in[x + 1 < w ? at + 1 : at]);
}

__kernel void blur_rows_4(const uint w, __global const float* in, __global float* out) {
    for (uint i = 0; i < 4; i++) {
        const uint x = 4 * get_global_id(0) + i;
        const uint at = get_global_id(1) * w + x;
        out[at] = blur(in[x > 0 ? at - 1 : at], in[at], in[x + 1 < w ? at + 1 : at]);
    }
}

__kernel void blur_columns(const uint w, const uint h, __global const float* in, __global float* out) {
    const uint y = get_global_id(1);
    const uint at = y * w + get_global_id(0);
    out[at] = blur(in[y > 0 ? at - w : at], in[at], in[y + 1 < h ? at + w : at]);
}

__kernel void blur_reference(const uint w, const uint h, __global const float* in, __global float* out) {
    const int x = get_global_id(0), y = get_global_id(1);
    float rows[3];
    for (int dy = -1; dy <= 1; dy++) {
        const uint row = clamp(y + dy, 0, (int)h - 1) * w;
        rows[dy + 1] = blur(in[row + max(x - 1, 0)], in[row + x], in[row + min(x + 1, (int)w - 1)]);
    }
    out[y * w + x] = blur(rows[0], rows[1], rows[2]);
}
