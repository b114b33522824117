// The reference of split.cl, which has its types from itself.
#define REAL float
#define REAL_SIZE 4
#include "pipelined_reference.cl"
