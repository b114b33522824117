// What kernels for CPUs share. A work-group is one work-item with ROWS x COLUMNS sums in local memory; those of a
// tile of MR x NR are in vector registers while the products of a part of k are added to them, so that
// operands of that part stay in the caches of a core (Goto & van de Geijn 2008).
//
//   VW         the vector width along n
//   OPERANDS   the parameters of add_products from which it reads an element of A, OF_A(i, p), and the vector v of a
//              row of B, OF_B(p, v)

typedef EXPAND(REAL, VW) vector;
#define READ_VECTOR_AT(at) EXPAND(vload, VW)(0, at)
#define WRITE_VECTOR_AT(value, at) EXPAND(vstore, VW)(value, 0, at)

// Adds `depth` products to each sum of a tile, which begins at `sums`; they are taken to be 0 where these are the first.
inline void add_products(const int depth, OPERANDS, __local REAL* sums, const int are_first) {
    vector tile[MR][NR / VW];
    #pragma unroll
    for (int i = 0; i < MR; i++) {
        #pragma unroll
        for (int v = 0; v < NR / VW; v++) {
            tile[i][v] = are_first ? (vector)(0) : READ_VECTOR_AT(sums + i * COLUMNS + v * VW);
        }
    }
    #pragma unroll 4
    for (int p = 0; p < depth; p++) {
        vector of_b[NR / VW];
        #pragma unroll
        for (int v = 0; v < NR / VW; v++) {
            of_b[v] = OF_B(p, v);
        }
        #pragma unroll
        for (int i = 0; i < MR; i++) {
            const vector of_a = (vector)(OF_A(i, p));
            #pragma unroll
            for (int v = 0; v < NR / VW; v++) {
                tile[i][v] = fma(of_a, of_b[v], tile[i][v]);
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < MR; i++) {
        #pragma unroll
        for (int v = 0; v < NR / VW; v++) {
            WRITE_VECTOR_AT(tile[i][v], sums + i * COLUMNS + v * VW);
        }
    }
}

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
