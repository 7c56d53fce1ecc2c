#version 460
// Two values change places; a vector and a struct are loaded whole.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
struct Pair { float a, b; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pairs { Pair v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Vectors { vec2 v[]; };
layout(std140, set = 0, binding = 0) uniform Args { Pairs x, x_grad; Vectors y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < 2) {
        vec2 t = args.y.v[i];
        args.y.v[i] = args.y_grad.v[i];
        args.y_grad.v[i] = t;
        Pair p = args.x.v[i];
        args.x.v[i] = args.x_grad.v[i];
        args.x_grad.v[i] = p;
    }
}
