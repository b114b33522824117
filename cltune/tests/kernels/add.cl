// Adds 2 to each element. The farther A is from 4, the slower; 2 does not compile, 5 is wrong, and 6 cannot be
// launched with work-groups of 4.

#if A == 2
#error two does not compile
#endif
#if A == 6
__attribute__((reqd_work_group_size(8, 1, 1)))
#endif
__kernel void add(const uint n, __global float* y) {
    const int distance = A > 4 ? A - 4 : 4 - A;
    float waste = get_global_id(0);
    for (int i = 0; i < 800 * distance; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
    y[get_global_id(0)] += waste > 1e30f ? 0 : A == 5 ? 1e9f : 2;
}
