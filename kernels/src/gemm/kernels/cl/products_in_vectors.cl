// A function that adds products to the sums of a tile of tiles_in_vectors.cl. It is included for each way in which
// operands lie:
//
//   ADD_PRODUCTS   the function's name
//   OPERANDS       its parameters from which it reads an element of A, OF_A(i, p), and the vector v of a row of B,
//                  OF_B(p, v)

// Adds `depth` products to each sum of a tile, which begins at `sums`; they are taken to be 0 where these are the first.
inline void ADD_PRODUCTS(const int depth, OPERANDS, __local REAL* sums, const int are_first) {
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

#undef ADD_PRODUCTS
#undef OPERANDS
#undef OF_A
