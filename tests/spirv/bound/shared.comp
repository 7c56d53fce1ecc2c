#version 460
// Float atomics in workgroup memory, which is read and written without them too.
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer X { float v[]; } x;
layout(std430, set = 0, binding = 1) buffer XGrad { float v[]; } x_grad;
layout(std430, set = 0, binding = 2) buffer Y { float v[]; } y;
layout(std430, set = 0, binding = 3) buffer YGrad { float v[]; } y_grad;
shared float s[4];
shared struct { float a; int n; vec2 w; } t;
shared vec2 plain;
void main() {
    uint i = gl_GlobalInvocationID.x;
    s[i] = 0.0;
    if (i == 0) {
        t.a = 0.0;
        t.n = 0;
        t.w = vec2(1.0, 2.0);
        plain = vec2(3.0, 4.0);
    }
    barrier();
    float g = y.v[i];
    atomicAdd(s[i & 1], x.v[i]);
    atomicAdd(t.a, 1.0);
    atomicAdd(t.n, 1);
    atomicAdd(t.w.y, x.v[i]);
    float was = g;
    if (i > 1)
        was = atomicExchange(s[i], float(i));
    barrier();
    x_grad.v[i] = s[i] + t.a + float(t.n);
    y.v[i] = t.w.x + t.w.y + plain.x;
    y_grad.v[i] = was;
}
