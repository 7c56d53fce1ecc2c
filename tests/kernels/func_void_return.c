// run: n=3 x=0.5,2,-1 y=1,1,1 --grad y=1,2,3
// expect: y = 0.25 4 1
// expect: x.grad = 1 8 0
// expect: y.grad = 0 0 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static void maybe(real v, real *out)
{
    if (v < 0)
        return;
    *out = v * v;
}

void some(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        maybe(x[i], &y[i]);
}
