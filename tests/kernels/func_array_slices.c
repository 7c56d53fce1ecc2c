// Rows of arrays, and elements, handed to device functions.
// run: n=2 m=3 x=1,2,3,4,5,6 y=zeros --grad y=1,1,1,2,2,2
// expect: y = 0.03125 0.0625 0.09375 0.125 0.15625 0.1875
// expect: x.grad = -0.109375 -0.14453125 -0.1796875 0.02734375 -0.0078125 -0.04296875 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real dot(int m, const real *a, const real b[m])
{
    real s = 0;
    for (int i = 0; i < m; i++)
        s += a[i] * b[i];
    return s;
}

static void scale(int m, const real a[m], real k, real b[m])
{
    for (int i = 0; i < m; i++)
        b[i] = k * a[i];
}

void norm(int n, int m, const real x[n][m], real y[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        scale(m, x[i], 1 / dot(m, x[i], &x[(i + 1) % n][0]), y[i]);
}
