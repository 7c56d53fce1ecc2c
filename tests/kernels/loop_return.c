// Early return from a device function inside a loop.
// run: n=3 m=3 x=1,2,3,4,0.1,5,0.2,7,8 y=zeros --grad y=1,10,100
// expect: y = 216 4 7
// expect: x.grad = 432 216 144 10 400 0 0 100 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real find(int m, const real *r)
{
    real p = 1;
    for (int j = 0; j < m; j++) {
        if (r[j] < 0.15f)
            return p * r[j] * 10;
        if (r[j] < 0.25f)
            return r[j + 1];
        p *= r[j];
    }
    return p * p * m * 2;
}

void rows(int n, int m, const real x[n][m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = find(m, x[i]);
}
