// Two kernels in one file; each by its name.
// run first: n=2 x=1,2 y=zeros --grad y=1,1
// expect: x.grad = 2 4
// run second: n=2 x=1,2 y=zeros --grad y=1,1
// expect: x.grad = 3 12
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void first(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}

void second(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i] * x[i];
}
