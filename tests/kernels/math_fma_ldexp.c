// run: n=2 a=1,2 b=3,4 c=5,6 y=zeros --grad y=1,1
// expect: y = 34.5 59
// expect: a.grad = 12 16
// expect: b.grad = 4 8
// expect: c.grad = 4.5 4.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scaled(int n, const real a[n], const real b[n], const real c[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = ldexp(fma(a[i], b[i], c[i]), 2) + scalbn(c[i], -1);
}
