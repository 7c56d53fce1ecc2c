// run: n=3 x=0,4,9 y=zeros --grad y=1,1,1
// edge: y = 0 2 3
// edge: x.grad = py: [0, 0.25, 1 / 6]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void root(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sqrt(x[i]);
}
