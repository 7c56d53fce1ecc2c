// What holds a result is overwritten after its use, and used as the start of the next reduction.
// run: n=3 x=1,2,3 y=zeros --grad y=1,1,1
// expect: y = 14 3 42
// expect: x.grad = 29 16 25 tol 1e-06
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void reuse(int n, const real x[n], real y[3])
{
    real s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    y[0] = s;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i] * x[0];
    y[2] = s * 1.5f;
    s = 0;
    #pragma omp parallel for reduction(max: s)
    for (int i = 0; i < n; i++)
        s = fmax(s, x[i]);
    y[1] = s;
}
