// An overwritten output has gradient zero afterwards.
// run: n=3 x=1,2,3 y=5,6,7 --grad y=1,2,3 --grad x=10,10,10
// expect: y = 1 4 9
// expect: y.grad = 0 0 0
// expect: x.grad = 12 18 28
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void square(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
