// Products whose sums are in parts: work-groups with the same tile of C have different parts of k, and `sum_parts`
// adds up what they have written, in the order of k, so that the result is the same each time.
//
// A file that multiplies in parts defines REAL and REAL_SIZE, or is compiled with them, includes this one, makes the
// arguments of another kernel macros, and includes that kernel, which is used as it is: values that were tuned for it
// by itself hold as long as its text stays as it is.
//
//   EPILOGUE   see epilogue.cl: it is applied to the whole sum
#pragma once

#include "types.cl"
#include "epilogue.cl"

// C <- alpha sums + beta C, and the epilogue. `sums` has `count` matrices of m rows and n columns.
__kernel void sum_parts(const int m, const int n, const int count, const REAL alpha, const REAL beta,
                        __global const REAL* restrict sums,
                        __global stored* restrict c, const int offset_c, const int ldc,
                        __global const stored* restrict bias) {
    const size_t elements = m * (size_t)n;
    const size_t at = get_global_id(0);
    if (at >= elements) {
        return;
    }
    REAL sum = sums[at];
    for (int part = 1; part < count; part++) {
        sum += sums[part * elements + at];
    }
    const size_t row = at / n;
    const size_t column = at % n;
    const REAL of_bias = BIAS(READ_C, row, column);
    write_element(c + offset_c + row * (ldc ? ldc : n) + column, sum, alpha, beta, of_bias);
}

// From here on: what multiplies. It writes sums, in the type they have, as they are.
#undef C_HALF
#undef EPILOGUE
#define EPILOGUE 0
#undef BIAS
#define BIAS(read, row, column) 0
#undef ADD_BIAS
#define ADD_BIAS(value, of_bias)
#undef ACTIVATE
#define ACTIVATE(type, value)
inline void write_sum(__global REAL* at, REAL sum, REAL alpha, REAL beta, REAL of_bias) {
    *at = sum;
}
#define write_element write_sum
__constant REAL alpha = 1;
__constant REAL beta = 0;

// The parts of `whole_k` are whole numbers of tiles, but for the last one. None is empty where there are no more
// than a launch of parts with as many tiles has.
#define PART get_group_id(1)
#define PARTS_THERE (int)get_num_groups(1)
#define TILES_OF_PART (((whole_k + KWG - 1) / KWG + PARTS_THERE - 1) / PARTS_THERE)
#define BEGIN_K (PART * (size_t)(TILES_OF_PART * KWG))
#define k min(TILES_OF_PART * KWG, (int)(whole_k - BEGIN_K))
// Its sums are a matrix of their own.
#define offset_c (PART * (size_t)m * n)
#define ldc 0
