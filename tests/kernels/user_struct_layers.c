// Arrays inside structs inside arrays; structs as scratch.
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real w[2][3]; real b[2]; } layer;
typedef struct { layer l[2]; int kind; struct { real lr, decay; } opt; } net;
static void forward(const layer *l, const real in[3], real out[2])
{
    for (int i = 0; i < 2; i++) {
        out[i] = l->b[i];
        for (int j = 0; j < 3; j++) out[i] += l->w[i][j] * in[j];
        out[i] = tanh(out[i]);
    }
}
void run(int n, net m, const real x[n][3], real y[n][2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real h[2][3] = {{0}};
        net c = m;
        forward(&c.l[0], x[i], h[0]);
        h[0][2] = 1;
        c.l[1].w[0][0] *= m.opt.lr;
        forward(&c.l[1], h[0], h[1]);
        y[i][0] = h[1][0] * m.opt.decay + (m.kind == 2 ? h[1][1] : 0);
        y[i][1] = h[1][1];
    }
}
void train(int n, net m[1], const real x[n][3])
{
    for (int i = 0; i < n; i++) {
        real o[2];
        forward(&m[0].l[i % 2], x[i], o);
        m[0].l[(i + 1) % 2].b[i % 2] += m->opt.lr * o[0];
        m->opt.lr *= 0.9f + 0.1f * o[1];
    }
}
