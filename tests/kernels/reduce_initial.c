// The initial value counts.
// run: n=3 k=2 x=1,2,3 y=0 --grad y=1
// expect: y = 10
// expect: k.grad = 4
// expect: x.grad = 1 1 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void start(int n, real k, const real x[n], real y[1])
{
    real s = k * k;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++)
        s += x[i];
    y[0] = s;
}
