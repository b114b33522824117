// What batched_tensor.cl computes: what batched.cl does in these types.
#define REAL float
#define C_HALF
#ifdef FACTORS_bf16
#include "bf16/names.cl"
#endif
#include "batched_reference.cl"
