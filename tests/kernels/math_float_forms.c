// sinf and friends: float even when the data are double.
// run: n=2 x=0.3,0.7 y=zeros --grad y=ones
// expect: y = py: [sin(v) + exp(v) + sqrt(v) for v in x] tol 1e-5
// expect: x.grad = py: [cos(v) + exp(v) + 0.5 / sqrt(v) for v in x] tol 1e-5
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void floats(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sinf(x[i]) + expf(x[i]) + sqrtf(x[i]);
}
