// Many iterations read one of three elements: gradients meet in each.
// run: n=30000 m=3 x=1,2,3 y=zeros --grad y=ones
// expect: x.grad = 20000 40000 60000
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void gather(int n, int m, const real x[m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i % m] * x[i % m];
}
