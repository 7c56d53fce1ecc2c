// run: n=6 x=1,2,3,4,5,6 y=zeros --grad y=1,2,3,4,5,6
// expect: y = 0 4 0 16 0 36
// expect: x.grad = 0 8 0 32 0 72
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void strided(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n; i += 2)
        y[i] = x[i] * x[i];
}
