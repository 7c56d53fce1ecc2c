// run: n=2 m=4 x=0.5,2 y=zeros --grad y=1,1
// expect: y = 6.146258310476915 30.586020941779964
// expect: x.grad = 18.02195684 15.38964719 tol 1e-07
// check: n=3 m=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void powers(int n, int m, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real p[m + 1];
        p[0] = x[i];
        for (int j = 1; j <= m; j++)
            p[j] = sin(p[j - 1]) + x[i];
        real s = 0;
        for (int j = 0; j <= m; j++)
            s += p[j] * p[m - j];
        y[i] = s;
    }
}
