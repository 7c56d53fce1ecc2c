// run: n=4 x=1,2,3,4 y=7 --grad y=2
// expect: y = 30
// expect: x.grad = 4 8 12 16
// expect: y.grad = 0
// check: n=9
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sumsq(int n, const real x[n], real y[1])
{
    real s = 0;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    y[0] = s;
}
