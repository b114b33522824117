#include "names.cl"
#include "../pipelined_parts.cl"
