// run: n=2 x=0.5,2 y=zeros --grad y=1,1
// expect: y = -2.25 36
// expect: x.grad = 0.75 75 tol 1e-07
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void powers(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real p[5];
        p[0] = 1;
        for (int j = 1; j < 5; j++)
            p[j] = p[j - 1] * x[i];
        real s = 0;
        for (int j = 0; j < 5; j++)
            s += p[j] * (j - 2);
        y[i] = s;
    }
}
