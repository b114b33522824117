// What a device can do at most: multiply-adds in registers, and copying memory.
//
//   VW       the vector width
//   CHAINS   sums of a work-item that do not depend on each other
//   STREAM   whether what is copied is stored past the caches, with compilers that can

#if VW == 1
typedef float vector;
#define LOAD(from) (*(from))
#define STORE(value, to) (*(to) = (value))
#else
#define PASTE(a, b) a##b
#define EXPAND(a, b) PASTE(a, b)
typedef EXPAND(float, VW) vector;
#define LOAD(from) EXPAND(vload, VW)(0, from)
#define STORE(value, to) EXPAND(vstore, VW)(value, 0, to)
#endif

#ifdef CHAINS
__kernel void multiply_adds(const int items, const int adds, const float factor,
                            const float summand, __global float* output) {
    vector sums[CHAINS];
    #pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        sums[c] = (float)(get_global_id(0) + c);
    }
    for (int round = 0; round < adds / (VW * CHAINS); round++) {
        #pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            sums[c] = sums[c] * factor + summand;
        }
    }
    // Everything computed has to matter.
    float lanes[VW];
    float total = 0.0f;
    #pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        STORE(sums[c], lanes);
        for (int i = 0; i < VW; i++) {
            total += lanes[i];
        }
    }
    output[get_global_id(0)] = total / (VW * CHAINS);
}
#else
#if STREAM && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define COPIED(value, to) __builtin_nontemporal_store(value, (__global vector*)(to))
#endif
#endif
#ifndef COPIED
#define COPIED(value, to) STORE(value, to)
#endif
__kernel void copy(const int n, __global const float* restrict input,
                   __global float* restrict output) {
    const size_t at = get_global_id(0) * VW;
    COPIED(LOAD(input + at), output + at);
}
#endif
