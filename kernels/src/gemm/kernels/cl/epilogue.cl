// What becomes of an element of C between its sum and its place in memory.
//
// EPILOGUE is the sum of
//
//   1   plus the bias of its column
//   2   plus the bias of its row
//   4   ReLU: 0 for what is below 0
//   8   GELU: x times the chance that a normally distributed number is less than x
//
// `bias` is not read without 1 or 2. What is compiled without an epilogue computes what it did before there
// were any.
#pragma once

#if EPILOGUE & 1
#define BIAS(read, row, column) read(bias + (column))
#elif EPILOGUE & 2
#define BIAS(read, row, column) READ_C(bias + (row))
#else
#define BIAS(read, row, column) 0
#endif

#if EPILOGUE & 3
#define ADD_BIAS(value, of_bias) value += of_bias;
#else
#define ADD_BIAS(value, of_bias)
#endif

#if EPILOGUE & 4
// NaN is not below 0, and stays.
#define ACTIVATE(type, value) value = value < 0 ? (type)(0) : value;
#elif EPILOGUE & 8
// Not by erfc, which is precise far below 0 as well, and takes several times as long.
#define ACTIVATE(type, value) value *= (type)(0.5f) + (type)(0.5f) * erf(value * sqrt((type)(0.5f)));
#else
#define ACTIVATE(type, value)
#endif

// `value` is a number or a vector of this type; so is `of_bias`, or one number.
#define FINISH(type, value, of_bias) { \
        ADD_BIAS(value, of_bias) \
        ACTIVATE(type, value) \
    }

#ifdef REAL
// One element of C. As BLAS defines it, C is not read where beta is 0.
inline void write_element(__global stored* at, REAL sum, REAL alpha, REAL beta, REAL of_bias) {
    REAL value = alpha * sum;
    if (beta != 0) {
        value += beta * READ_C(at);
    }
    FINISH(REAL, value, of_bias)
    WRITE_C(value, at);
}
#endif
