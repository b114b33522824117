// Vectors of bfloat16, for kernels that read and write vectors of what is stored; names.cl has single numbers.
#pragma once

#include "names.cl"

#define BF16_VECTORS(width) \
    inline float##width floats_of_bf16_##width(const ushort##width bits) { \
        return as_float##width(convert_uint##width(bits) << 16); \
    } \
    inline ushort##width bf16_of_floats_##width(const float##width value) { \
        const uint##width bits = as_uint##width(value); \
        const uint##width rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16; \
        const uint##width nan = bits >> 16 | 0x40; \
        return convert_ushort##width(select(rounded, nan, (bits & 0x7fffffffu) > 0x7f800000u)); \
    }
BF16_VECTORS(2)
BF16_VECTORS(4)
BF16_VECTORS(8)
BF16_VECTORS(16)

// Not by the names of OpenCL's functions for half precision: PoCL has them as macros.
#define READ_VECTOR(width, at) EXPAND(floats_of_bf16_, width)(EXPAND(vload, width)(0, at))
#define READ_ALIGNED(width, at) EXPAND(floats_of_bf16_, width)(*(__global const EXPAND(ushort, width)*)(at))
#define WRITE_VECTOR(width, value, at) EXPAND(vstore, width)(EXPAND(bf16_of_floats_, width)(value), 0, at)
#define WRITE_ALIGNED(width, value, at) \
    (*(__global EXPAND(ushort, width)*)(at) = EXPAND(bf16_of_floats_, width)(value))
