// What pack_16.cl computes.
typedef ushort element_16;
#define REAL element_16
#define REAL_SIZE 2
#include "pack_reference.cl"
