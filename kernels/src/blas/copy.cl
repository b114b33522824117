// Copies a matrix A into the upper left corner of a matrix B, straight or transposed; all other elements
// of B become `fill`.
//
// Both are lines of elements: A has of_lines lines of of_length elements that begin lda elements apart,
// from element offa of its buffer on, and B likewise. A distance of 0 means that lines follow each other.
//
//   WX, WY, EACH   straight: the work-items along a line, the lines of a work-group, and the elements of a
//                  work-item
//   TILE, ROWS     transposed: a work-group copies TILE x TILE elements by TILE x ROWS work-items
//   LOCAL          whether they go through local memory, so that both sides are read and written in the
//                  order of their addresses

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef WX
__kernel __attribute__((reqd_work_group_size(WX * WY, 1, 1)))
void matrix_copy(const ulong of_lines, const ulong of_length, const ulong lines, const ulong length,
                 __global const REAL* restrict a, const ulong offa, const ulong lda,
                 __global REAL* restrict b, const ulong offb, const ulong ldb, const REAL fill) {
    const ulong across = (length + WX * EACH - 1) / (WX * EACH);
    const ulong line = get_group_id(0) / across * WY + get_local_id(0) / WX;
    const ulong begin = get_group_id(0) % across * (WX * EACH) + get_local_id(0) % WX;
    if (line >= lines) return;
    const ulong from = offa + line * (lda ? lda : of_length), to = offb + line * (ldb ? ldb : length);
    #pragma unroll
    for (uint i = 0; i < EACH; i++) {
        const ulong at = begin + i * WX;
        if (at < length) b[to + at] = line < of_lines && at < of_length ? a[from + at] : fill;
    }
}
#endif

#ifdef TILE
__kernel __attribute__((reqd_work_group_size(TILE * ROWS, 1, 1)))
void matrix_transpose(const ulong of_lines, const ulong of_length, const ulong lines, const ulong length,
                      __global const REAL* restrict a, const ulong offa, const ulong lda,
                      __global REAL* restrict b, const ulong offb, const ulong ldb, const REAL fill) {
    const ulong across = (length + TILE - 1) / TILE;
    const ulong first_line = get_group_id(0) / across * TILE, first = get_group_id(0) % across * TILE;
    const uint column = get_local_id(0) % TILE, row = get_local_id(0) / TILE;
    const ulong step = lda ? lda : of_length, step_b = ldb ? ldb : length;
    // The element of line `l` of B at `p`: A has it in its line `p`.
#define TURNED(l, p) ((p) < of_lines && (l) < of_length ? a[offa + (p) * step + (l)] : fill)
#if LOCAL
    // The odd distance keeps lines out of each other's memory banks.
    __local REAL tile[TILE][TILE + 1];
    #pragma unroll
    for (uint i = row; i < TILE; i += ROWS) tile[i][column] = TURNED(first_line + column, first + i);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    #pragma unroll
    for (uint i = row; i < TILE; i += ROWS) {
        const ulong line = first_line + i, at = first + column;
        if (line < lines && at < length) {
#if LOCAL
            b[offb + line * step_b + at] = tile[column][i];
#else
            b[offb + line * step_b + at] = TURNED(line, at);
#endif
        }
    }
}
#endif

__kernel void matrix_copy_reference(
    const ulong of_lines, const ulong of_length, const ulong lines, const ulong length, __global const REAL* a,
    const ulong offa, const ulong lda, __global REAL* b, const ulong offb, const ulong ldb, const REAL fill) {
    const ulong line = get_global_id(0) / length, at = get_global_id(0) % length;
    b[line * length + at] = line < of_lines && at < of_length ? a[line * of_length + at] : fill;
}

__kernel void matrix_transpose_reference(
    const ulong of_lines, const ulong of_length, const ulong lines, const ulong length, __global const REAL* a,
    const ulong offa, const ulong lda, __global REAL* b, const ulong offb, const ulong ldb, const REAL fill) {
    const ulong line = get_global_id(0) / length, at = get_global_id(0) % length;
    b[line * length + at] = line < of_length && at < of_lines ? a[at * of_length + line] : fill;
}
