#include "names.cl"
#include "../pack_reference.cl"
