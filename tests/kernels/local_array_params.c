// Local arrays handed to device functions that write them.
// run: n=2 x=0.5,0.6 y=zeros --grad y=1,2
// expect: y = 1.30014248779966 1.523689786895965
// expect: x.grad = 2.065170878 4.888745209 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static void basis(real v, real out[3])
{
    out[0] = 1;
    out[1] = v;
    out[2] = v * v - 0.5f;
}

static real dot3(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void spline(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a[3], b[2][3];
        basis(x[i], a);
        basis(sin(x[i]), b[1]);
        basis(dot3(a, b[1]), b[0]);
        y[i] = dot3(b[0], b[1]);
    }
}
