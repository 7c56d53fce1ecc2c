// Casts to integers stop the gradient; from integers too.
// run: n=4 x=1.5,-1.5,2.7,3.2 y=zeros --grad y=1,1,1,1
// expect: y = 1.5 1.5 5.4 9.6 tol 1e-6
// expect: x.grad = 1 -1 2 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void convert(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (int)x[i] * x[i];
}
