// Copies of tiles of A and B from global to local memory, ahead of their use.
//
// A tile has KWG rows of WG elements; a copy is of 16 bytes, WIDTH elements. MDIMA (NDIMB) work-items
// are side by side in a row. Where EDGE_* is 1, tiles stick out of the matrix and zeros stand in for
// what is missing.
//
//   COPY_async       the hardware copies (cp.async of NVIDIA's GPUs since compute capability 8.0)
//   COPY_registers   through private memory
#pragma once

#if REAL_SIZE == 4
#define WIDTH 4
#else
#define WIDTH 2
#endif
typedef EXPAND(REAL, WIDTH) chunk;

// How many elements of the chunk at `at` are in the matrix.
inline int inside(int at, int columns, int row, int rows) {
    return row < rows ? clamp(columns - at, 0, WIDTH) : 0;
}

#ifdef COPY_async
inline void copy_chunk(__local REAL* to, __global const REAL* from, int elements) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((uint)(size_t)to), "l"((ulong)from), "r"(elements * REAL_SIZE) : "memory");
}
#define END_OF_STAGE() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_ALL_BUT(stages) asm volatile("cp.async.wait_group %0;" :: "n"(stages) : "memory")
#else
inline chunk load_chunk(__global const REAL* from, int elements) {
    if (elements == WIDTH) {
        return *(__global const chunk*)from;
    }
    REAL values[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        values[i] = i < elements ? from[i] : 0;
    }
    return EXPAND(vload, WIDTH)(0, values);
}
#endif

// Runs `body` for each chunk of a tile that this work-item copies: number `piece`, in row `row` at
// column `at`.
#define FOR_CHUNKS(WG, DIM, body) \
    _Pragma("unroll") \
    for (int y = 0; y < KWG / (ITEMS / DIM); y++) { \
        _Pragma("unroll") \
        for (int x = 0; x < WG / (DIM * WIDTH); x++) { \
            const int piece = y * (WG / (DIM * WIDTH)) + x; \
            const int row = item / DIM + y * (ITEMS / DIM); \
            const int at = (item % DIM + x * DIM) * WIDTH; \
            body \
        } \
    }
#define CHUNKS(WG) (WG * KWG / (ITEMS * WIDTH))
// With no edge the compiler need not know the sizes.
#define ELEMENTS(edge, columns) ((edge) || EDGE_K ? inside(at, columns, row, rows) : WIDTH)
