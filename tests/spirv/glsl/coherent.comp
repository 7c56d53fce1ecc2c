#version 460
// The Vulkan memory model: loads say that they make others' writes visible.
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) workgroupcoherent buffer Floats { float v[]; };
layout(push_constant) uniform Args { Floats x, x_grad, y, y_grad; } args;
void main() {
    uint i = gl_GlobalInvocationID.x;
    float g = args.y_grad.v[i];
    args.y_grad.v[i] = 0.0;
    args.x_grad.v[i] += 2.0 * args.x.v[i] * g;
}
