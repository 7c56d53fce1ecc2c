#version 460
// A value loaded before a loop that overwrites what it was loaded from.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(std140, set = 0, binding = 0) uniform Args { uvec2 x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    Floats y = Floats(args.y_grad);
    float g = y.v[i];
    for (int k = 0; k < 3; k++) {
        y.v[i] = float(k);
        Floats(args.x_grad).v[i] += g;
    }
}
