// run: n=4 x=3,2,3,4 y=0 --grad y=2
// expect: y = 4
// expect: x.grad = 0 8 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void smallest(int n, const real x[n], real y[1])
{
    real m = 1e30f;
    #pragma omp parallel for reduction(min:m)
    for (int i = 0; i < n; i++)
        if (x[i] * x[i] < m)
            m = x[i] * x[i];
    y[0] = m;
}
