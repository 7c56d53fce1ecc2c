// The task overwrites what an earlier task read.
// run: n=3 x=1,2,3 y=zeros --grad x=1,1,1 --grad y=1,1,1
// expect: x = 1 8 27
// expect: y = 1 4 9
// expect: x.grad = 5 16 33 tol 1e-07
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void reuse(int n, real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = x[i] * y[i];
}
