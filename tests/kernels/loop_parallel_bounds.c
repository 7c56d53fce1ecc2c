// run: n=6 lo=1 x=1,2,3,4,5,6 y=zeros --grad y=1,2,3,4,5,6
// expect: y = 0 4 9 16 25 0
// expect: x.grad = 0 8 18 32 50 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bounds(int n, int lo, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = lo; i <= n - 2; ++i)
        y[i] = x[i] * x[i];
}
