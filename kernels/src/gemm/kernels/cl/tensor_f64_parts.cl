// C <- alpha A B + beta C, with the sums of some tiles of C in parts, each as tensor_f64.cl computes it.
//
// Work-groups run in rounds, of one for each compute unit. The tiles of whole rounds, `whole` of them, have a
// work-group each, as in tensor_f64.cl. The rest would leave compute units idle for as long as a tile takes: several
// work-groups share one, with a part of k each. They begin last and write what they have summed up to a scratch
// buffer; `sum_parts` adds that up in the order of k, so that the result is the same each time.
//
// Parts are whole numbers of tiles of k, but for the last one; none is empty. The scratch buffer has, for each part,
// the rest of the tiles, MWG rows of NWG each.
#define REAL double
#define REAL_SIZE 8
#include "types.cl"
#include "epilogue.cl"

#define SIZE_OF_TILE (MWG * NWG)

// C <- sums + beta C, and the epilogue, for `rest` tiles after `whole`. Parts have alpha in them.
__kernel void sum_parts(const int m, const int n, const int whole, const int rest, const int parts,
                        const double beta, __global const double* restrict sums,
                        __global double* restrict c, const int first_c, const int step_of_c,
                        __global const double* restrict bias) {
    const size_t at = get_global_id(0);
    const size_t elements = rest * (size_t)SIZE_OF_TILE;
    if (at >= elements) {
        return;
    }
    // Which tile it is, as in tensor_f64.cl.
    const int tiles_m = (m + MWG - 1) / MWG;
    const int tiles_n = (n + NWG - 1) / NWG;
    const int group = whole + at / SIZE_OF_TILE;
    const int first_m = group / (SWIZZLE * tiles_n) * SWIZZLE;
    const int band = min(tiles_m - first_m, SWIZZLE);
    const int row = (first_m + group % (SWIZZLE * tiles_n) % band) * MWG + at % SIZE_OF_TILE / NWG;
    const int column = group % (SWIZZLE * tiles_n) / band * NWG + at % NWG;
    if (row >= m || column >= n) {
        return;
    }
    double sum = sums[at];
    for (int part = 1; part < parts; part++) {
        sum += sums[part * elements + at];
    }
    const double of_bias = BIAS(READ_C, row, column);
    write_element(c + first_c + row * (size_t)(step_of_c ? step_of_c : n) + column, sum, 1, beta, of_bias);
}

// From here on: what multiplies. tensor_f64.cl is used as it is, with the arguments of its kernel as macros, so that
// values that were tuned for it by itself hold as long as its text stays as it is.
inline int group_of_launch() {
    return get_group_id(0);
}
#define IS_PART (group_of_launch() >= whole)
#define REST (tiles_m * tiles_n - whole)
#define PART ((group_of_launch() - whole) / REST)
#define PLACE ((group_of_launch() - whole) % REST)
#define get_group_id(dimension) (IS_PART ? whole + PLACE : group_of_launch())

#define K_OF_PART (((whole_k + KWG - 1) / KWG + parts - 1) / parts * KWG)
#define BEGIN_K (IS_PART ? PART * (size_t)K_OF_PART : 0)
#define k (IS_PART ? min(K_OF_PART, (int)(whole_k - BEGIN_K)) : whole_k)
#define lda (step_of_a ? step_of_a : A_OF_K ? whole_k : m)
#define ldb (step_of_b ? step_of_b : B_OF_K ? whole_k : n)
#define offset_a (first_a + BEGIN_K * (A_OF_K ? 1 : step_a))
#define offset_b (first_b + BEGIN_K * (B_OF_K ? 1 : step_b))

// A part is written to its place in the scratch buffer, which is so far from C.
#define ldc (IS_PART ? NWG : step_of_c)
#define offset_c \
    (IS_PART ? (in_parts - c) + (PART * (size_t)REST + PLACE) * SIZE_OF_TILE - begin_m * NWG - begin_n : first_c)
// Where elements are written one by one, those of a part are written here, before C is read or the epilogue done.
// `at`, `x` and `e` are tensor_f64.cl's.
#undef BIAS
#if EPILOGUE & 1
#define OF_BIAS(row, column) bias[column]
#elif EPILOGUE & 2
#define OF_BIAS(row, column) bias[row]
#else
#define OF_BIAS(row, column) 0
#endif
#define BIAS(read, row, column) (IS_PART ? 0 : OF_BIAS(row, column)); \
    if (IS_PART) { \
        at[e] = alpha * x[e]; \
        continue; \
    }

// It has a function of its own of this name.
#define write_element write_element_of_tile
#define gemm_tensor_f64(...) \
    gemm_part(const int m, const int n, const int whole_k, const int whole, const int parts, \
              const double alpha, const double beta, \
              __global const double* restrict a, const int first_a, const int step_of_a, const int a_of_k, \
              __global const double* restrict b, const int first_b, const int step_of_b, const int b_of_k, \
              __global double* c, const int first_c, const int step_of_c, \
              __global const double* restrict bias, __global double* in_parts)
#include "tensor_f64.cl"
