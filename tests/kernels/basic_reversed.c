// run: n=4 x=1,2,3,4 y=zeros --grad y=1,2,3,4
// expect: y = 16 9 4 1
// expect: x.grad = 8 12 12 8
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void reversed(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = n - 1; i >= 0; i--)
        y[n - 1 - i] = x[i] * x[i];
}
