// Exchanges of numbers among work-items that run together on NVIDIA's GPUs.
#pragma once

// x of the work-item whose number differs by this power of two, in that bit.
inline float2 of_other(float2 x, int bit) {
    float2 y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y.x) : "f"(x.x), "r"(bit));
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y.y) : "f"(x.y), "r"(bit));
    return y;
}

// Four columns, of which each of four work-items, whose numbers differ in the third and the fourth bit, has a line:
// each gets one, with an element of every line.
inline float4 transposed(float4 x, int item) {
    const bool is_odd = item / 4 % 2;
    const bool is_last = item / 8 % 2;
    const float2 kept = is_odd ? x.yw : x.xz;
    const float2 given = of_other(is_odd ? x.xz : x.yw, 4);
    const float2 first = is_odd ? (float2)(given.x, kept.x) : (float2)(kept.x, given.x);
    const float2 last = is_odd ? (float2)(given.y, kept.y) : (float2)(kept.y, given.y);
    const float2 others = of_other(is_last ? first : last, 8);
    return is_last ? (float4)(others, last) : (float4)(first, others);
}
