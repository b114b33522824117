#include "names.cl"
#include "../pipelined.cl"
