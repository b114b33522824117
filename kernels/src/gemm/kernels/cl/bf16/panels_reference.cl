#include "names.cl"
#include "../panels_reference.cl"
