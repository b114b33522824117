// Each body moves by its velocity, and its colour fades.
__kernel void drift(const uint n, const float4 step, __global float4* at, __global const float2* velocity,
                    __local float2* tile) {
    const uint i = get_global_id(0);
    tile[get_local_id(0)] = velocity[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float2 v = tile[get_local_id(0)];
#if FLAT
    at[i] += step * (float4)(v, 0.0f, 0.0f);
#else
    __global float* flat = (__global float*)(at + i);
    flat[0] += step.x * v.x;
    flat[1] += step.y * v.y;
#endif
}

__kernel void drift_reference(const uint n, const float4 step, __global float* at,
                              __global const float* velocity) {
    const uint i = get_global_id(0);
    at[4 * i] += step.x * velocity[2 * i];
    at[4 * i + 1] += step.y * velocity[2 * i + 1];
}

// The second component of the last element is wrong where WRONG says so.
__kernel void swizzle(const uint n, const short2 add, __global const short8* x, __global short8* y,
                      __global uchar16* bytes) {
    const uint i = get_global_id(0);
    short8 found = x[i].s76543210 + (short8)(add, add, add, add);
#if WRONG
    if (i == n - 1) {
        found.s1 += 1;
    }
#endif
    y[i] = found;
    bytes[i] = (uchar16)(i & 0xff);
}

__kernel void swizzle_reference(const uint n, const short2 add, __global const short* x, __global short* y,
                                __global uchar* bytes) {
    const uint i = get_global_id(0);
    for (uint lane = 0; lane < 8; lane++) {
        y[8 * i + lane] = x[8 * i + 7 - lane] + (lane % 2 ? add.y : add.x);
    }
    for (uint lane = 0; lane < 16; lane++) {
        bytes[16 * i + lane] = i & 0xff;
    }
}

// Sums of pairs through memory of the tunable's own.
__kernel void widen(__global const float* x, __global float4* wide) {
    const uint i = get_global_id(0);
    wide[i] = (float4)(x[i], 2 * x[i], 3 * x[i], 4 * x[i]);
}

__kernel void narrow(__global const float4* wide, __global float* y) {
    const uint i = get_global_id(0);
    const float4 w = wide[i];
    y[i] = w.x + w.y + w.z + w.w;
}

__kernel void narrow_reference(__global const float* x, __global float* y) {
    y[get_global_id(0)] = 10 * x[get_global_id(0)];
}
