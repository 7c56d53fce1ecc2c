// run: n=4 x=1,5,3,4 y=0 --grad y=2
// expect: y = 5
// expect: x.grad = 0 2 0 0
// run: n=4 x=5,1,5,5 y=0 --grad y=3
// edge: x.grad = 1 0 1 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void largest(int n, const real x[n], real y[1])
{
    real m = -1e30f;
    #pragma omp parallel for reduction(max:m)
    for (int i = 0; i < n; i++)
        m = fmax(m, x[i]);
    y[0] = m;
}
