// Elements of C, four at a time, in single precision and as NVIDIA's GPUs store them.
//
//   FACTORS_f16, FACTORS_bf16, FACTORS_tf32   the type of A, B and C; C of tf32 is in single precision
//   EPILOGUE                                  see epilogue.cl
#pragma once

#include "epilogue.cl"

#ifdef FACTORS_tf32
typedef float stored;
typedef float4 four;
inline float4 single_of(four x) {
    return x;
}
inline four stored_of(float4 x) {
    return x;
}
#else
// Also where it is half precision: no device needs to compute with that type.
typedef ushort stored;
typedef ushort4 four;
inline float4 single_of(four x) {
#ifdef FACTORS_f16
    float4 single;
    asm("cvt.f32.f16 %0, %1;" : "=f"(single.x) : "h"(x.x));
    asm("cvt.f32.f16 %0, %1;" : "=f"(single.y) : "h"(x.y));
    asm("cvt.f32.f16 %0, %1;" : "=f"(single.z) : "h"(x.z));
    asm("cvt.f32.f16 %0, %1;" : "=f"(single.w) : "h"(x.w));
    return single;
#else
    return (float4)(as_float((uint)x.x << 16), as_float((uint)x.y << 16), as_float((uint)x.z << 16),
                    as_float((uint)x.w << 16));
#endif
}
#ifdef FACTORS_f16
#define PACK "cvt.rn.f16x2.f32 %0, %2, %1;"
#else
#define PACK "cvt.rn.bf16x2.f32 %0, %2, %1;"
#endif
inline four stored_of(float4 x) {
    uint low, high;
    asm(PACK : "=r"(low) : "f"(x.x), "f"(x.y));
    asm(PACK : "=r"(high) : "f"(x.z), "f"(x.w));
    return (four)(low, low >> 16, high, high >> 16);
}
#endif

// Four elements, of which `inside`, one at least, may be read. The others are like the first.
inline float4 read_four(__global const stored* at, int inside) {
    four read = (four)(at[0], 0, 0, 0);
    read.y = inside > 1 ? at[1] : at[0];
    read.z = inside > 2 ? at[2] : at[0];
    read.w = inside > 3 ? at[3] : at[0];
    return single_of(read);
}
#define READ_C(at) read_four(at, 1)
#define READ_BIASES(at) read_four(at, inside)

// Four elements of C, of which `inside` are in the matrix; `together` where all can be written at once.
inline void write_four(__global stored* at, float4 sums, float alpha, float beta, bool together, int inside,
                       int row, int column, __global const stored* bias) {
    if (inside <= 0) {
        return;
    }
    float4 values = alpha * sums;
    if (together && inside >= 4) {
        if (beta != 0) {
            values += beta * single_of(*(__global const four*)at);
        }
        FINISH(float4, values, BIAS(READ_BIASES, row, column))
        *(__global four*)at = stored_of(values);
        return;
    }
    if (beta != 0) {
        values += beta * read_four(at, inside);
    }
    FINISH(float4, values, BIAS(READ_BIASES, row, column))
    const four written = stored_of(values);
    at[0] = written.x;
    if (inside > 1) {
        at[1] = written.y;
    }
    if (inside > 2) {
        at[2] = written.z;
    }
    if (inside > 3) {
        at[3] = written.w;
    }
}
