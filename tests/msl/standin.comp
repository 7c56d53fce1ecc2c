#version 450
// Barriers, simdgroup functions and atomics of the stand-in for <metal_stdlib>.
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer B { float x[128]; float sums[2]; float sub[4]; uint count; uint fadd; uint ballot; float last; };
shared float part[64];
void main() {
    uint i = gl_LocalInvocationID.x, g = gl_WorkGroupID.x;
    part[i] = x[gl_GlobalInvocationID.x];
    barrier();
    for (uint s = 32; s > 0; s >>= 1) {
        if (i < s) part[i] += part[i + s];
        barrier();
    }
    if (i == 0) sums[g] = part[0];
    float t = subgroupAdd(x[gl_GlobalInvocationID.x]);
    if (subgroupElect()) sub[g * 2 + gl_SubgroupID] = t;
    atomicAdd(count, 1u);
    uint old = fadd, seen;
    do { seen = old; old = atomicCompSwap(fadd, seen, floatBitsToUint(uintBitsToFloat(seen) + x[gl_GlobalInvocationID.x])); } while (old != seen);
    uvec4 b = subgroupBallot(i % 2u == 0u);
    if (i == 0) ballot = b.x;
    float up = subgroupShuffle(x[gl_GlobalInvocationID.x], 31u);
    if (gl_GlobalInvocationID.x == 0) last = up;
}
