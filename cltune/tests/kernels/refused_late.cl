__kernel void first(__global int* y, __global int* own) {
    own[get_global_id(0)] = READS ? y[get_global_id(0)] + 1 : 1;
    y[get_global_id(0)] = 7;
}

__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void second(__global const int* own, __global int* y) {
    y[get_global_id(0)] = own[get_global_id(0)];
}
