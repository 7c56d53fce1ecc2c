// Second derivatives: tangent of the adjoint.
// run: n=3 x=1,2,3 y=zeros --grad y=1,2,3 --dot x=1,10,100
// edge: x.grad = 3 24 81
// edge: x.hvp = 6 240 5400
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void cube(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i] * x[i];
}
