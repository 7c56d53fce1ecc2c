// Gradient clipping: the identity, with a cotangent that is kept small.
// run: n=3 x=1,2,3 e=0 --grad e=1
// expect: e = 14
// edge: x.grad = 1 1 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real clip(real x)
{
    return x;
}

static void clip_adjoint(real x, real *x_b, real r_b)
{
    (void)x;
    *x_b += fmin((real)1, fmax((real)-1, r_b));
}
#pragma retrograd adjoint(clip) = clip_adjoint

void energy(int n, const real x[n], real e[1])
{
    real s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) {
        real v = clip(x[i]);
        s += v * v;
    }
    e[0] += s;
}
