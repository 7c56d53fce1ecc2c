// A kernel-level reduction feeds a later task: softmax.
// run: n=3 x=0.1,0.7,-0.4 y=zeros --grad y=1,2,3
// expect: y = 0.29166002871868896 0.531439221650759 0.17690074963055205
// expect: x.grad = -0.2581893341 0.06098758196 0.1972017521 tol 1e-07
// check: n=6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void softmax(int n, const real x[n], real y[n])
{
    real m = -1e30f, s = 0;
    #pragma omp parallel for reduction(max:m)
    for (int i = 0; i < n; i++)
        m = fmax(m, x[i]);
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++)
        s += exp(x[i] - m);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = exp(x[i] - m) / s;
}
