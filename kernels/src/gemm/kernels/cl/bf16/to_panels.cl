#include "names.cl"
#include "../to_panels.cl"
