// Table lookup with interpolation: the position carries the gradient, the index does not.
// run: n=3 m=5 g=0,1,4,9,16 x=0.5,1.25,3.75 y=zeros --grad y=1,1,1
// expect: y = 0.5 1.75 14.25
// expect: x.grad = 1 3 7
// expect: g.grad = 0.5 1.25 0.25 0.25 0.75
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void lookup(int n, int m, const real g[m], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = (int)floor(x[i]);
        if (k > m - 2)
            k = m - 2;
        real f = x[i] - k;
        y[i] = g[k] * (1 - f) + g[k + 1] * f;
    }
}
