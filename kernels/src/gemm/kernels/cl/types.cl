// The types of a product.
//
//   REAL, REAL_SIZE   what is computed in, and its bytes
//   C_HALF            C is stored in half precision
#pragma once

#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)

#ifdef C_HALF
typedef half stored;
#define READ_C(at) vload_half(0, at)
#define WRITE_C(value, at) vstore_half(value, 0, at)
#else
typedef REAL stored;
#define READ_C(at) (*(at))
#define WRITE_C(value, at) (*(at) = (value))
#endif

// One element of C. As BLAS defines it, C is not read where beta is 0.
inline void update(__global stored* at, REAL sum, REAL alpha, REAL beta) {
    REAL value = alpha * sum;
    if (beta != 0) {
        value += beta * READ_C(at);
    }
    WRITE_C(value, at);
}
