#include "names.cl"
#include "../direct_reference.cl"
