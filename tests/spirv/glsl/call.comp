#version 460
// What a function read is used after an overwrite.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(std140, set = 0, binding = 0) uniform Args { Floats x, x_grad, y, y_grad; } args;
float half_of(uint i) { return 0.5 * args.y_grad.v[i]; }
void clear(uint i) { args.y_grad.v[i] = 0.0; }
float take(uint i) { clear(i); return 1.0; }
void main() {
    uint i = gl_GlobalInvocationID.x;
    args.x_grad.v[i] = args.y_grad.v[i] * take(i);
    args.x.v[i] = half_of(i) * take(i);
}
