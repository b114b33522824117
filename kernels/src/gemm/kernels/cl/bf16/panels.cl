#include "names.cl"
#include "../panels.cl"
