// Rows of a tile that lie across, in lines of k, as factors from registers (wgmma.cl), and the product of the transposes
// that they give: rows here are columns of C.
#pragma once

#include "exchange.cl"
#include "four.cl"

// In 32 lines of k, local memory has blocks of 32 lines of 32 rows, with chunks exchanged as
// above. Which rows of a tile those are that a work-item has in registers is free, as long as C is written likewise: by
// the two that begin here, and SECOND_ROW after it, what 32 work-items read at once is in different banks.
#define SECOND_ROW 4
inline int first_row_across(int item) {
    return item / 64 * 32 + item / 16 % 2 * 16 + item / 32 % 2 * 8 + item / 4 % 4;
}
// The elements of A for order number `step` of four: of the first row and the second, of elements q and q + 4 of 8.
inline __local const uint* element_across(__local const void* tile, int item, int step, int e) {
    const int row = first_row_across(item);
    const int of_item = (row / 32 * 32 + item % 4) * 32 + (row % 32 / 4 ^ item % 4) * 4 + row % 4;
    const size_t chunk = (size_t)((__local const uint*)tile + of_item) ^ (e % 2 + e / 2 * 4) * 16;
    return (__local const uint*)chunk + (step * 8 + e / 2 * 4) * 32;
}
// Eight sums of a work-item, of both its rows and four of 16 columns, for four rows of two columns, which others have:
// those from `place_across` on, and those of the column SECOND_COLUMN after it. Two neighbours have all eight rows of 32
// bytes, so that these are written at once.
#define SECOND_COLUMN 2
inline int2 place_across(int item) {
    const int row = first_row_across(item) / 8 * 8 + item % 2 * 4;
    return (int2)(row, item / 8 % 2 * 8 + item % 4 / 2 * 4 + item / 4 % 2);
}
inline void exchange_across(const float* sums, int item, float4 four[2]) {
    const float4 first = transposed((float4)(sums[0], sums[1], sums[4], sums[5]), item);
    const float4 second = transposed((float4)(sums[2], sums[3], sums[6], sums[7]), item);
    const bool is_odd = item % 2;
    const float4 kept = is_odd ? second : first;
    const float4 left = is_odd ? first : second;
    const float4 given = (float4)(of_other(left.lo, 1), of_other(left.hi, 1));
    four[0] = is_odd ? given : kept;
    four[1] = is_odd ? kept : given;
}
// Writes eight sums of a work-item, of which those from `place_across` on belong to `to`: the row and the column of C are
// those, and `rows` and `columns` are how many the matrix has from there on.
inline void write_across(const float* sums, int item, __global stored* to, size_t step_of_c, float alpha, float beta,
                         int at_once, int rows, int columns, int row_c, int column_c, __global const stored* bias) {
    float4 four[2];
    exchange_across(sums, item, four);
    #pragma unroll
    for (int i = 0; i < 2; i++) {
        if (i * SECOND_COLUMN < rows) {
            write_four(to + i * SECOND_COLUMN * step_of_c, four[i], alpha, beta, at_once, columns,
                       row_c + i * SECOND_COLUMN, column_c, bias);
        }
    }
}
