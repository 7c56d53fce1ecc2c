#version 460
// Float atomics on bound buffers: in arrays, vectors and structs, in a buffer that is restrict.
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 4) in;
struct Pair { float a, b; };
layout(std430, set = 0, binding = 0) buffer X { float v[4]; } x;
layout(std430, set = 0, binding = 1) restrict buffer XGrad { vec2 head; float rest[]; } x_grad;
layout(std430, set = 0, binding = 2) buffer Y { Pair p[]; } y;
layout(std430, set = 0, binding = 3) coherent buffer YGrad { float v[]; } y_grad;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float old = atomicAdd(x.v[i], 2.0);
    atomicAdd(x_grad.head.y, old);
    atomicAdd(x_grad.rest[i & 1], 1.0);
    atomicAdd(y.p[i >> 1].b, float(i));
    float g = y_grad.v[i];
    float was = atomicAdd(y_grad.v[i], g);
    x.v[i] += g + was;
}
