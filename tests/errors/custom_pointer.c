#include <math.h>
typedef struct { float x, y; } vec2;
static float f(const float *x, float *y, const vec2 *p, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) {
        y[i] += x[i];
        s += x[i] * p[i].x;
    }
    return s;
}
static void f_b(const float *x, float *x_b, const float *y, float *y_b, const vec2 *p, vec2 *p_b,
                int n, float r_b) {
    float z = x_b[0];
    x_b[1] = 2;
    x_b[2] *= y_b[0];
    z += x_b[3] += 1;
    vec2 q = p_b[0];
    p_b[1] = q;
    #pragma omp atomic
    y_b[0] *= 2;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x_b[i] += r_b * p[i].x + x[0] * y[0] * z;
}
#pragma retrograd adjoint(f) = f_b
static void g(const float *x, float *y) {
    *y = 2 * *x;
}
static void g_b(const float *x, float *x_b, const float *y, float *y_b) {
    (void)x, (void)y;
    *x_b += 2 * *y_b;
    *y_b = 0;
}
#pragma retrograd adjoint(g) = g_b
void k(int n, int j, const float x[n], float y[n], vec2 p[n], float w[n][4]) {
    for (int i = 0; i < n; i++)
        y[i] = f(x, w[i], p, n);
    g(&w[0][1], w[1]);       /* fine: two rows */
    g(&p[1].x, &p[j].y);     /* fine: two fields */
    g(&w[j][0], &w[j][3]);
    g(y + 1, y);
}

/* expect: 13:18: error: 'x_b' is the gradient of a const array: other iterations may add to it as well */
/* expect: way out: add to it as a statement, with += or -= */
/* expect: 14:12: error: 'x_b' is the gradient of a const array: other iterations may add to it as well */
/* expect: 15:12: error: 'x_b' is the gradient of a const array: other iterations may add to it as well */
/* expect: 16:17: error: 'x_b' is the gradient of a const array: other iterations may add to it as well */
/* expect: 17:17: error: 'p_b' is the gradient of a const array: other iterations may add to it as well */
/* expect: 18:8: error: 'p_b' is the gradient of a const array: other iterations may add to it as well */
/* expect: 20:8: error: an atomic operation that is no sum onto a gradient */
/* expect: way out: only sums onto gradients, += and -=, can be atomic in the adjoint of a device function */
/* expect: 21:6: error: a parallel loop in the adjoint of a device function */
/* expect: way out: use a serial loop, or give the kernel an adjoint of its own */
/* expect: 40:7: error: 'x' of 'g', which writes through 'y' and has an adjoint of its own, may be the same memory */
/* expect: way out: copy one of them to a local array, or call a function whose adjoint is derived */
/* expect: 41:9: error: 'x' of 'g', which writes through 'y' and has an adjoint of its own, may be the same memory */
