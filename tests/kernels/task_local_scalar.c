// Kernel-level scalar, set serially, used by a task.
// run: n=3 k=2 x=1,2,3 y=zeros --grad y=1,2,3
// expect: y = 5 10 15
// expect: k.grad = 56
// expect: x.grad = 5 10 15
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void outer(int n, real k, const real x[n], real y[n])
{
    real a = k * k;
    a += 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i];
}
