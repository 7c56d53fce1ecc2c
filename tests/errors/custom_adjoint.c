static float f(float x, int k) {
    return x * (float)k;
}
static void f1(float x, float *x_b, float r_b) {
    *x_b += x * r_b;
}
static void f2(float x, const float *x_b, int k, float r_b) {
    (void)x, (void)x_b, (void)k, (void)r_b;
}
static float f3(float x, float *x_b, int k, float r_b) {
    *x_b += r_b;
    return x * (float)k;
}
static int g(float x) {
    return (int)x;
}
static float h(const float *x) {
    return *x;
}
#pragma retrograd adjoint(f) = f1
#pragma retrograd adjoint(f) = f2
#pragma retrograd adjoint(f) = f3
#pragma retrograd adjoint(f) = nothing
#pragma retrograd adjoint(g) = f1
#pragma retrograd adjoint(h) = f1
#pragma retrograd adjoint f
void k(int n, float x[n]) {
    for (int i = 0; i < n; i++)
        x[i] = f(x[i], g(x[i])) + h(&x[i]);
}

/* expect: 26:19: error: expected '#pragma retrograd adjoint(f) = f_adjoint' */
/* expect: 4:43: error: 'f1' is no adjoint of 'f': parameter 3 should be 'k' of 'f' */
/* expect: 7:38: error: 'f2' is no adjoint of 'f': parameter 2 should be a pointer to the gradient of 'x' */
/* expect: 22:32: error: 'f3' cannot be the adjoint of 'f' */
/* expect: 23:32: error: there is no function 'nothing' */
/* expect: 24:27: error: 'g' does not compute a float or double from its arguments */
/* expect: 4:22: error: 'f1' is no adjoint of 'h': parameter 1 should be 'x' of 'h', const */
