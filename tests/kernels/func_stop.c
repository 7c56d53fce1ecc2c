// rg_stop: identity for any C compiler, zero derivative here.
// run: n=2 x=3,2 y=zeros --grad y=1,1
// edge: y = 9 4
// edge: x.grad = 3 2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#ifndef __RETROGRAD__
#define rg_stop(x) (x)
#endif

void half_way(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = rg_stop(x[i]) * x[i];
}
