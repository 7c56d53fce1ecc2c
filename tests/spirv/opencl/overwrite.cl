// OpenCL's SPIR-V is for OpenCL drivers: no translator to Metal takes it, and check says so.
kernel void overwrite(global const float *x, global float *x_grad, global float *y_grad) {
    size_t i = get_global_id(0);
    float g = y_grad[i];
    y_grad[i] = 0;
    x_grad[i] += 2 * x[i] * g;
}
