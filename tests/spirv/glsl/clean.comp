#version 460
// Only added to: nothing is read after it changed.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(std140, set = 0, binding = 0) uniform Args { Floats x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    args.x_grad.v[i] += args.x.v[i] * args.y_grad.v[i];
}
