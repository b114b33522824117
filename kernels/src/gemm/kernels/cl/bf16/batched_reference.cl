#include "names.cl"
#include "../batched_reference.cl"
