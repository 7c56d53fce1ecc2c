// x/0: the true infinity; a zero cotangent there counts for nothing.
// run: n=3 a=1,2,3 b=0,0,2 y=zeros --grad y=1,0,1
// edge: y = inf inf 1.5
// edge: a.grad = inf 0 0.5
// edge: b.grad = -inf 0 -0.75
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void divide(int n, const real a[n], const real b[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a[i] / b[i];
}
