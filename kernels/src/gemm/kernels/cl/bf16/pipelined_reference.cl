#include "names.cl"
#include "../pipelined_reference.cl"
