// Kernel-level VLA between tasks.
// run: n=3 x=1,2,3 y=zeros --grad y=1,2,3
// expect: y = 4 36 9
// expect: x.grad = 62 76 66 tol 1e-07
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void between(int n, const real x[n], real y[n])
{
    real t[n];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        t[i] = x[i] * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = t[i] * t[(i + 1) % n];
}
