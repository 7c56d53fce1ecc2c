// The adjoint of a store with bound buffers: every translator gets it right.
RWStructuredBuffer<float> x : register(u0);
RWStructuredBuffer<float> x_grad : register(u1);
RWStructuredBuffer<float> y_grad : register(u2);

[numthreads(4, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {
    float g = y_grad[id.x];
    y_grad[id.x] = 0;
    x_grad[id.x] += 2 * x[id.x] * g;
}
