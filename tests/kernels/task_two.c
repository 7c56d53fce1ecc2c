// The second task reads what the first wrote: an intermediate with a gradient.
// run: n=3 x=1,2,3 t=zeros y=zeros --grad y=1,2,3
// expect: y = py: [v * v * (w * w) for v, w in zip([1,2,3],[2,3,1])]
// expect: x.grad = 62 76 66 tol 1e-07
// expect: t.grad = 0 0 0
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void two(int n, const real x[n], real t[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        t[i] = x[i] * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = t[i] * t[(i + 1) % n];
}
