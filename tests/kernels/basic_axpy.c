// run: n=5 a=2 x=1,2,3,4,5 y=zeros --grad y=1,2,3,4,5
// expect: y = 2 4 6 8 10
// expect: x.grad = 2 4 6 8 10
// expect: y.grad = 1 2 3 4 5
// expect: a.grad = 55
// check: n=7
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void axpy(int n, real a, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}
