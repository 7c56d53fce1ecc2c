// pow at a zero base, and of a negative base.
// run: n=6 a=0,0,0,-2,2,0 b=2,1,0,3,0,3 y=zeros --grad y=1,1,1,1,1,1
// edge: y = 0 0 1 -8 1 0
// edge: a.grad = 0 1 0 12 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void powers(int n, const real a[n], const real b[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(a[i], b[i]);
}
