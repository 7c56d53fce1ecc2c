// The adjoint of a kernel by another kernel of the file; the weight's gradient is summed in it.
// run scale: n=3 w=2 x=1,2,3 y=zeros --grad y=1,10,100
// expect: y = 2 4 6
// expect: x.grad = 2 20 200
// expect: w.grad = 321
// expect: y.grad = 0 0 0
// run scale: n=3 w=2 x=1,2,3 y=zeros --grad y=1,10,100 --dot x=1,1,1
// edge: w.hvp = 111
// check: scale
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scale_adjoint(int n, real w, real *w_b, const real x[n], real x_b[n], const real y[n],
                   real y_b[n])
{
    real s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) {
        s += x[i] * y_b[i];
        x_b[i] += w * y_b[i];
        y_b[i] = 0;
    }
    w_b[0] += s;
}

#pragma retrograd adjoint(scale) = scale_adjoint
void scale(int n, real w, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = w * x[i];
}
