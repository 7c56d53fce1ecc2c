// The same array in two roles: neighbours on both sides.
// run: n=4 x=1,2,3,4 y=zeros --grad y=1,2,3,4
// expect: y = 8 3 8 3
// expect: x.grad = 18 16 6 8 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void ring(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[(i + 1) % n] * x[(i + n - 1) % n];
}
