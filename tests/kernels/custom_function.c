// The adjoint of a device function by pragma: here twice the true one, so that it shows.
// run: n=3 x=1,2,3 k=0.5 y=zeros --grad y=1,1,1
// expect: y = py: [v * v * k for v in x]
// edge: x.grad = 2 4 6
// edge: k.grad = 28
// run: n=3 x=1,2,3 k=0.5 y=zeros --dot x=1,1,1
// expect: y.dot = 1 2 3
// run: n=3 x=1,2,3 k=0.5 y=zeros --grad y=1,1,1 --dot x=1,0,0
// edge: x.hvp = 2 0 0
// edge: k.hvp = 4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real bend(real x, real k)
{
    return x * x * k;
}

static void bend_adjoint(real x, real *x_b, real k, real *k_b, real r_b)
{
    *x_b += 4 * x * k * r_b;
    *k_b += 2 * x * x * r_b;
}
#pragma retrograd adjoint(bend) = bend_adjoint

void bends(int n, const real x[n], real k, real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = bend(x[i], k);
}
