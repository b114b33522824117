// What kernels for CPUs share. A work-group is one work-item with ROWS x COLUMNS sums in local memory; those of a
// tile of MR x NR are in vector registers while the products of a part of k are added to them, so that
// operands of that part stay in the caches of a core (Goto & van de Geijn 2008).
//
//   VW   the vector width along n
#pragma once

typedef EXPAND(REAL, VW) vector;
#define READ_VECTOR_AT(at) EXPAND(vload, VW)(0, at)
#define WRITE_VECTOR_AT(value, at) EXPAND(vstore, VW)(value, 0, at)

// Writes the sums of so many rows and columns to C, from its element (begin_m, begin_n) on.
inline void write_sums(const int rows, const int columns, __local const REAL* sums, const REAL alpha, const REAL beta,
                       __global stored* c, const size_t step_c, const int begin_m, const int begin_n,
                       __global const stored* bias) {
    for (int i = 0; i < rows; i++) {
        __global stored* row = c + (begin_m + i) * step_c + begin_n;
        int j = 0;
#ifndef C_HALF
        for (; j + VW <= columns; j += VW) {
            vector value = alpha * READ_VECTOR_AT(sums + i * COLUMNS + j);
            if (beta != 0) {
                value += beta * READ_VECTOR_AT(row + j);
            }
            FINISH(vector, value, BIAS(READ_VECTOR_AT, begin_m + i, begin_n + j))
            WRITE_VECTOR_AT(value, row + j);
        }
#endif
        for (; j < columns; j++) {
            write_element(row + j, sums[i * COLUMNS + j], alpha, beta, BIAS(READ_C, begin_m + i, begin_n + j));
        }
    }
}
