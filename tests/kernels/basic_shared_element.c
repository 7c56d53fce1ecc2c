// An element that all iterations read.
// run: n=3 w=2 x=1,2,3 y=zeros --grad y=1,10,100
// expect: w.grad = 321
// expect: x.grad = 2 20 200
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void weigh(int n, const real w[1], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = w[0] * x[i];
}
