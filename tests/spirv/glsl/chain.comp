#version 460
// A loaded value is the index of another load, and its memory is overwritten in between.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(push_constant) uniform Args { Floats x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float s = args.y.v[uint(args.x.v[i]) & 3u];
    args.x.v[i] = 0.0;
    args.y.v[3] += s;
}
