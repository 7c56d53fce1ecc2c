// run: n=4 x=1,2,3,4 y=0 --grad y=1
// expect: y = 24
// expect: x.grad = 24 12 8 6
// run: n=4 x=1,0,3,4 y=0 --grad y=1
// expect: y = 0
// expect: x.grad = 0 12 0 0
// run: n=4 x=1,0,0,4 y=0 --grad y=1
// expect: x.grad = 0 0 0 0
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void product(int n, const real x[n], real y[1])
{
    real p = 1;
    #pragma omp parallel for reduction(*:p)
    for (int i = 0; i < n; i++)
        p *= x[i];
    y[0] = p;
}
