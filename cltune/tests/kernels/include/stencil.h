#pragma once
#define PLUS(a, b) ((a) + (b))
