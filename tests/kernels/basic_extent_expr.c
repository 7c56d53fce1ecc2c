// run: n=3 x=1,2,3,4 y=zeros --grad y=1,2,3
// expect: y = 1 1 1
// expect: x.grad = -1 -1 -1 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void diff(int n, const real x[n + 1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i + 1] - x[i];
}
