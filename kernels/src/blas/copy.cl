// Copies a matrix A into the upper left corner of a matrix B, straight or transposed; all other elements
// of B become `fill`.
//
// Both are lines of elements: A has of_lines lines of of_length elements that begin lda elements apart,
// from element offa of its buffer on, and B likewise. A distance of 0 means that lines follow each other.
//
//   WX, WY, EACH   straight: the work-items along a line, the lines of a work-group, and the elements of a
//                  work-item
//   TILE, ROWS     transposed: a work-group copies TILE x TILE elements by TILE / BLOCK x ROWS work-items
//   BLOCK          the side of the square that a work-item transposes in its registers, so that both sides
//                  are read and written in vectors; 1: element by element
//   LOCAL          with a BLOCK of 1, whether elements go through local memory, so that both sides are read
//                  and written in the order of their addresses

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
#define OF_BLOCK_(name, width) name##width
#define OF_BLOCK(name, width) OF_BLOCK_(name, width)
#define VECTOR OF_BLOCK(REAL, BLOCK)
#define LOAD OF_BLOCK(vload, BLOCK)
#define STORE OF_BLOCK(vstore, BLOCK)

__kernel __attribute__((reqd_work_group_size(TILE / BLOCK * ROWS, 1, 1)))
void matrix_transpose(const ulong of_lines, const ulong of_length, const ulong lines, const ulong length,
                      __global const REAL* restrict a, const ulong offa, const ulong lda,
                      __global REAL* restrict b, const ulong offb, const ulong ldb, const REAL fill) {
    const ulong across = (length + TILE - 1) / TILE;
    const ulong first_line = get_group_id(0) / across * TILE, first = get_group_id(0) % across * TILE;
    const uint column = get_local_id(0) % (TILE / BLOCK), row = get_local_id(0) / (TILE / BLOCK);
    const ulong step = lda ? lda : of_length, step_b = ldb ? ldb : length;
    // The element of line `l` of B at `p`: A has it in its line `p`.
#define TURNED(l, p) ((p) < of_lines && (l) < of_length ? a[offa + (p) * step + (l)] : fill)
#if BLOCK > 1
    // Vectors that lie where the device reads them at once; elsewhere vload and vstore, which a GPU does
    // element by element.
    const bool is_aligned = ((offa | step | offb | step_b) & (BLOCK - 1)) == 0;
    #pragma unroll 1
    for (uint i = row; i < TILE / BLOCK; i += ROWS) {
        const ulong line = first_line + i * BLOCK, at = first + column * BLOCK;
        __global REAL* to = b + offb + line * step_b + at;
        if (line + BLOCK <= min(lines, of_length) && at + BLOCK <= min(length, of_lines)) {
            __global const REAL* from = a + offa + at * step + line;
            VECTOR rows[BLOCK];
            #pragma unroll
            for (uint p = 0; p < BLOCK; p++) {
                __global const REAL* of_row = from + p * step;
                rows[p] = is_aligned ? *(__global const VECTOR*)of_row : LOAD(0, of_row);
            }
            // Dealing the rows of the one half and of the other out in turns, as often as BLOCK can be
            // halved, transposes them.
            #pragma unroll
            for (uint half_of = 1; half_of < BLOCK; half_of *= 2) {
                VECTOR dealt[BLOCK];
                #pragma unroll
                for (uint p = 0; p < BLOCK / 2; p++) {
                    dealt[2 * p].even = rows[p].lo;
                    dealt[2 * p].odd = rows[p + BLOCK / 2].lo;
                    dealt[2 * p + 1].even = rows[p].hi;
                    dealt[2 * p + 1].odd = rows[p + BLOCK / 2].hi;
                }
                #pragma unroll
                for (uint p = 0; p < BLOCK; p++) rows[p] = dealt[p];
            }
            #pragma unroll
            for (uint l = 0; l < BLOCK; l++) {
                __global REAL* to_row = to + l * step_b;
                if (is_aligned) {
                    *(__global VECTOR*)to_row = rows[l];
                } else {
                    STORE(rows[l], 0, to_row);
                }
            }
        } else {
            for (ulong l = line; l < min(lines, line + BLOCK); l++, to += step_b) {
                for (ulong p = at; p < min(length, at + BLOCK); p++) to[p - at] = TURNED(l, p);
            }
        }
    }
#else
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
#endif
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
