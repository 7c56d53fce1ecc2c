#version 460
// The overwrite is in a branch, the use after it.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(push_constant) uniform Args { Floats x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float g = args.y_grad.v[i];
    if (i > 0)
        args.y_grad.v[i] = 0.0;
    args.x_grad.v[i] += g;
}
