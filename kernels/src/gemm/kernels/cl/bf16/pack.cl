#include "names.cl"
#include "../pack.cl"
