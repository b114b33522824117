// The names of half precision for bfloat16, the upper half of a float.
//
// Kernels that store in half precision (C_HALF, A_HALF) store in bfloat16 where this comes before them. They
// know nothing of it: values that were tuned for a kernel hold as long as its text and that of what it includes
// stay as they are.
#pragma once

inline float float_of_bf16(const ushort bits) {
    return as_float((uint)bits << 16);
}

// Rounded to nearest, ties to even; the carry of what is beyond the largest number makes infinity. NaN stays NaN.
inline ushort bf16_of_float(const float value) {
    const uint bits = as_uint(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (bits >> 16) | 0x40;
    }
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#undef vload_half
#undef vstore_half
#define half ushort
#define vload_half(offset, from) float_of_bf16((from)[offset])
#define vstore_half(value, offset, to) ((to)[offset] = bf16_of_float(value))
