#include "vectors.cl"
#include "../batched.cl"
