#version 460
// y.grad is read, cleared, then used: the adjoint of a store.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(std140, set = 0, binding = 0) uniform Args { Floats x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = args.x.v[i];
    float g = args.y_grad.v[i];
    args.y_grad.v[i] = 0.0;
    args.x_grad.v[i] += 2.0 * x * g;
}
