// Trip counts that depend on data.
// run: n=4 c=0,1,3,5 x=0.5,2,1.1,0.9 y=zeros --grad y=1,1,1,1
// expect: y = py: [v ** k for v, k in zip(x, c)]
// expect: x.grad = py: [k * v ** (k - 1) if k else 0 for v, k in zip(x, c)]
// check: n=4 c=0,1,3,5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void power(int n, const int c[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real p = 1;
        for (int j = 0; j < c[i]; j++)
            p *= x[i];
        y[i] = p;
    }
}
