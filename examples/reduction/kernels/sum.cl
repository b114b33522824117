// The sum of many numbers: each work-group adds up a part, and either adds it to the total or leaves it
// to a second launch.

#if VW == 1
#define numbers uint
#define add_up(v) (v)
#elif VW == 2
#define numbers uint2
#define add_up(v) ((v).x + (v).y)
#else
#define numbers uint4
#define add_up(v) ((v).x + (v).y + (v).z + (v).w)
#endif

uint sum_of_group(uint own, __local uint* sums) {
    const uint l = get_local_id(0);
    sums[l] = own;
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) sums[l] += sums[l + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0];
}

uint sum_of_part(const uint n, __global const uint* x, __local uint* sums) {
    numbers sum = 0;
    __global const numbers* v = (__global const numbers*)x;
    for (uint i = get_global_id(0); i < n / VW; i += get_global_size(0)) sum += v[i];
    return sum_of_group(add_up(sum), sums);
}

__kernel void sum_to_total(const uint n, __global const uint* x, __global uint* total, __local uint* sums) {
    const uint sum = sum_of_part(n, x, sums);
    if (get_local_id(0) == 0) atomic_add(total, sum);
}

__kernel void sum_to_parts(const uint n, __global const uint* x, __global uint* parts, __local uint* sums) {
    const uint sum = sum_of_part(n, x, sums);
    if (get_local_id(0) == 0) parts[get_group_id(0)] = sum;
}

__kernel void sum_parts(const uint count, __global const uint* parts, __global uint* total, __local uint* sums) {
    uint own = 0;
    for (uint i = get_local_id(0); i < count; i += get_local_size(0)) own += parts[i];
    const uint sum = sum_of_group(own, sums);
    if (get_local_id(0) == 0) *total = sum;
}

// What results are compared with.
__kernel void sum_reference(const uint n, __global const uint* x, __global uint* total) {
    uint sum = 0;
    for (uint i = 0; i < n; i++) sum += x[i];
    *total = sum;
}
