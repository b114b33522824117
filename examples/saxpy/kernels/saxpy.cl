// y <- a*x + y. A work-item computes WPT elements, VW next to each other at a time.

#if VW == 1
#define TYPE float
#elif VW == 2
#define TYPE float2
#else
#define TYPE float4
#endif

__kernel void saxpy(const uint n, const float a, __global const TYPE* x, __global TYPE* y) {
    for (uint w = 0; w < WPT / VW; w++) {
        const uint i = w * get_global_size(0) + get_global_id(0);
        y[i] = a * x[i] + y[i];
    }
}

__kernel void saxpy_reference(const uint n, const float a, __global const float* x,
                              __global float* y) {
    const uint i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
