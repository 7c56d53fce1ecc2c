// A zero cotangent through log(0) and 1/0 contributes exactly zero.
// run: n=3 x=0,2,4 y=zeros --grad y=0,1,1
// edge: x.grad = py: [0, 0.5 - 0.25, 0.25 - 0.0625]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void logs(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log(x[i]) + 1 / x[i];
}
