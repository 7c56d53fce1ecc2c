// run: n=2 a=0,1 b=0,1 y=zeros --grad y=1,1
// edge: a.grad = 0 0.5
// edge: b.grad = 0 -0.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void angle(int n, const real a[n], const real b[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = atan2(a[i], b[i]);
}
