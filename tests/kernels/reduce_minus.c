// run: n=3 x=1,2,3 y=0 --grad y=1
// expect: y = -14
// expect: x.grad = -2 -4 -6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void minus(int n, const real x[n], real y[1])
{
    real s = 0;
    #pragma omp parallel for reduction(-:s)
    for (int i = 0; i < n; i++)
        s -= x[i] * x[i];
    y[0] = s;
}
