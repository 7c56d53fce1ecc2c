#version 460
// The value reaches its use through arithmetic, a branch and a phi.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(push_constant) uniform Args { Floats x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float s = args.y_grad.v[i];
    float t = s;
    if (s > 0.0)
        t = s + s * s;
    args.y_grad.v[i] = 1.0;
    args.x_grad.v[i] = t;
}
