#include "names.cl"
#include "../direct.cl"
