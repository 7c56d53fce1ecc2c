// run: n=3 x=0,-2,2 y=zeros --grad y=1,1,1
// edge: x.grad = 0 -1 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void absolute(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fabs(x[i]);
}
