// What tensor_f64_batched.cl computes: what batched.cl does in double precision.
#define REAL double
#include "batched_reference.cl"
