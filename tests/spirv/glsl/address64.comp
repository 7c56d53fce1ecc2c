#version 460
// The same with addresses that arrive as 64-bit integers in a push constant.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(push_constant) uniform Args { uint64_t x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = Floats(args.x).v[i];
    float g = Floats(args.y_grad).v[i];
    Floats(args.y_grad).v[i] = 0.0;
    Floats(args.x_grad).v[i] += 2.0 * x * g;
}
