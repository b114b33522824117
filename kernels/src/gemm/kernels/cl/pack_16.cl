// pack.cl of elements of 16 bits, which are copied as they are.
typedef ushort element_16;
#define REAL element_16
#define REAL_SIZE 2
#include "pack.cl"
