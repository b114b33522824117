typedef struct {
    float4 place; // w is the mass
    float velocity[3];
    int steps;
} Body;

struct settings {
    float step;
    float soft;
    uint first;
    uint count;
};

// One step of bodies that attract each other.
__kernel void leap(const uint n, const struct settings with, __global const Body* before,
                   __global Body* after) {
    const uint i = get_global_id(0);
    Body body = before[i];
    float4 pull = 0;
    __local float4 tile[WG];
    for (uint begin = 0; begin < n; begin += WG) {
        tile[get_local_id(0)] = before[begin + get_local_id(0)].place;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < WG; j++) {
            const float4 to = tile[j] - body.place;
            const float distance = to.x * to.x + to.y * to.y + to.z * to.z + 0.01f + fabs(with.soft);
            pull += to * (tile[j].w / (distance * sqrt(distance)));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    body.velocity[0] += with.step * pull.x;
    body.velocity[1] += with.step * pull.y;
    body.velocity[2] += with.step * pull.z;
    body.place.xyz += with.step * (float3)(body.velocity[0], body.velocity[1], body.velocity[2]);
    body.steps += 1;
#if WRONG == 1
    if (i == 5) body.velocity[1] += 1.0f;
#elif WRONG == 2
    if (i == 6) body.steps += 1;
#elif WRONG == 3
    if (i == n - 1) return;
#elif WRONG == 4
    after[n + i % 2].steps = 0;
#elif WRONG == 5
    ((__global Body*)before)[7].velocity[2] += 1.0f;
#endif
    after[i] = body;
}

__kernel void leap_reference(const uint n, const struct settings with, __global const Body* before,
                             __global Body* after) {
    const uint i = get_global_id(0);
    Body body = before[i];
    float3 pull = 0;
    for (uint j = 0; j < n; j++) {
        const float3 to = before[j].place.xyz - body.place.xyz;
        const float distance = dot(to, to) + 0.01f + fabs(with.soft);
        pull += to * before[j].place.w / (distance * sqrt(distance));
    }
    for (int k = 0; k < 3; k++) body.velocity[k] += with.step * (k == 0 ? pull.x : k == 1 ? pull.y : pull.z);
    body.place.x += with.step * body.velocity[0];
    body.place.y += with.step * body.velocity[1];
    body.place.z += with.step * body.velocity[2];
    body.steps += 1;
    after[i] = body;
}
