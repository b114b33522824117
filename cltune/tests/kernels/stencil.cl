// A kernel that uses everything a declaration can give it; it is compiled and run by the tests.
#include "include/stencil.h"

#ifdef T_half
#error "not taken in these tests"
#endif

__kernel void stencil_3(const uint w, const ulong h, const float scale, const char bias,
                        __local float* tile, __global const float* in, __global float* out,
                        __local int* halo) {
    const size_t x = get_global_id(0);
    const size_t y = get_global_id(1);
    const size_t l = get_local_id(1) * WX + get_local_id(0);
    if (l == 0) halo[0] = RADIUS;
    tile[l] = in[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * w + x] = PLUS(tile[l] * scale, bias) + (UNROLL ? 0 : 0) + (T)(halo[0] - FILTER / 2);
}

__kernel void plain(const uint w, const ulong h, const float scale, const char bias,
                    __global const float* in, __global float* out) {
    const size_t i = get_global_id(1) * w + get_global_id(0);
    out[i] = in[i] * scale + bias;
}
