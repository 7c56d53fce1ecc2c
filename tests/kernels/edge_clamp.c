// run: n=4 x=-1,0.5,2,1 y=zeros --grad y=1,1,1,1
// edge: y = 0 0.5 1 1
// edge: x.grad = 0 1 0 0.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void clamp(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmax((real)0, fmin((real)1, x[i]));
}
