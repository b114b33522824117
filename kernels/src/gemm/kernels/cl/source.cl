// The type of what is copied, and how it is read.
//
//   A_HALF   it is half precision, and the copy what is computed in
#pragma once

#include "types.cl"

#ifdef A_HALF
typedef half source;
#define READ_SOURCE(at) vload_half(0, at)
#else
typedef REAL source;
#define READ_SOURCE(at) (*(at))
#endif
