// run: n=5 x=1,2,3,4,5 y=zeros --grad y=0,1,10,100,0
// expect: y = 0 0 0 0 0
// expect: x.grad = 1 8 81 -190 100
// check: n=9
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void laplace(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        y[i] = x[i - 1] - 2 * x[i] + x[i + 1];
}
