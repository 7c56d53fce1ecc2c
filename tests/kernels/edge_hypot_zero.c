// run: n=2 a=0,3 b=0,4 y=zeros --grad y=1,1
// edge: y = 0 5
// edge: a.grad = 0 0.6
// edge: b.grad = 0 0.8
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void hyp(int n, const real a[n], const real b[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = hypot(a[i], b[i]);
}
