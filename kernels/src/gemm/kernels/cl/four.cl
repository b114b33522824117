// Elements of C, four at a time, in single precision and as NVIDIA's GPUs store them.
//
//   FACTORS_f16, FACTORS_bf16, FACTORS_tf32   the type of A, B and C; C of tf32 is in single precision
//   EPILOGUE                                  see epilogue.cl
#pragma once

#ifdef FACTORS_tf32
#define REAL float
#define REAL_SIZE 4
#include "types.cl"
#endif
#include "epilogue.cl"

#ifdef FACTORS_tf32
typedef float2 two;
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
typedef ushort2 two;
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
#define READ_C(at) read_four(at, 1)
#endif

#if (EPILOGUE & 8) && !defined(FACTORS_tf32)
// Of results of 16 bits GELU is less precise than by erf, which takes several times as long: the chance that a normally
// distributed number is less than x, within 6e-5, an eighth of a unit in the last place of half precision. x times a
// polynomial of degree 7 of its square, by Remez's algorithm; 0 below -4, and 1 above 4.
inline float4 chance_below(float4 x) {
    const float4 square = fmin(x * x, (float4)(16.0f));
    float4 sum = fma((float4)(-1.58079227e-9f), square, (float4)(1.21711494e-7f));
    sum = fma(sum, square, (float4)(-4.1008775e-6f));
    sum = fma(sum, square, (float4)(8.0667769e-5f));
    sum = fma(sum, square, (float4)(-1.04820344e-3f));
    sum = fma(sum, square, (float4)(9.66487359e-3f));
    sum = fma(sum, square, (float4)(-6.61753789e-2f));
    sum = fma(sum, square, (float4)(0.39884752f));
    return clamp(fma(sum, x, (float4)(0.5f)), 0.0f, 1.0f);
}
#undef ACTIVATE
#define ACTIVATE(type, value) value *= chance_below(value);
#endif

// Four elements, of which `inside`, one at least, may be read. The others are like the first.
inline float4 read_four(__global const stored* at, int inside) {
    four read = (four)(at[0], 0, 0, 0);
    read.y = inside > 1 ? at[1] : at[0];
    read.z = inside > 2 ? at[2] : at[0];
    read.w = inside > 3 ? at[3] : at[0];
    return single_of(read);
}
// Columns begin at multiples of four here, so that four of the bias are read at once.
inline float4 read_biases(__global const stored* at, int inside) {
    return inside >= 4 ? single_of(*(__global const four*)at) : read_four(at, inside);
}
#define READ_BIASES(at) read_biases(at, inside)

// Four elements of C, of which `inside` are in the matrix; `at_once` of them, 1, 2 or 4, can be written at once.
inline void write_four(__global stored* at, float4 sums, float alpha, float beta, int at_once, int inside,
                       int row, int column, __global const stored* bias) {
    if (inside <= 0) {
        return;
    }
    float4 values = alpha * sums;
    if (at_once == 4 && inside >= 4) {
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
    if (at_once == 2 && inside >= 4) {
        *(__global two*)at = written.lo;
        *(__global two*)(at + 2) = written.hi;
        return;
    }
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
// How many elements can be written at once where all lines begin at sums of multiples of these numbers.
inline int elements_at_once(size_t offset, size_t step, size_t next) {
    const uint all = (uint)(offset | step | next);
    return all % 2 ? 1 : all % 4 ? 2 : 4;
}
