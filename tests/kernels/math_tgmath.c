// <tgmath.h>: float functions on floats.
// run: n=3 x=0.3,0.7,1.2 y=zeros --grad y=ones
// expect: y = py: [sin(v) * exp(-v) + fabs(v) ** 1.5 + sqrt(v) for v in x]
// expect: x.grad = py: [(cos(v) - sin(v)) * exp(-v) + 1.5 * sqrt(v) + 0.5 / sqrt(v) for v in x]
#include <tgmath.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void generic(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sin(x[i]) * exp(-x[i]) + pow(fabs(x[i]), (real)1.5) + sqrt(x[i]);
}
