#include "names.cl"
#include "../to_panels_reference.cl"
