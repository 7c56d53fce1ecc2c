// Early return from the kernel.
// run: n=3 go=0 x=1,2,3 y=4,5,6 --grad y=1,2,3
// expect: y = 4 5 6
// expect: x.grad = 0 0 0
// expect: y.grad = 1 2 3
// run: n=3 go=1 x=1,2,3 y=4,5,6 --grad y=1,2,3
// expect: y = 1 4 9
// expect: x.grad = 2 8 18
// expect: y.grad = 0 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void maybe(int n, int go, const real x[n], real y[n])
{
    if (!go)
        return;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
