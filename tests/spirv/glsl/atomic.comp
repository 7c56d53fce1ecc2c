#version 460
// Atomics through addresses, with a value that is used after one of them.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Count { uint n; };
layout(std140, set = 0, binding = 0) uniform Args { uvec2 x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float g = Floats(args.y_grad).v[0];
    atomicAdd(Floats(args.y_grad).v[0], 1.0);
    atomicAdd(Floats(args.x_grad).v[i], g);
    atomicAdd(Count(args.y).n, i + 1u);
}
