// run: n=3 m=0 x=1,2,3 y=4,5,6 --grad y=1,2,3
// expect: y = 4 5 6
// expect: y.grad = 1 2 3
// expect: x.grad = 0 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void none(int n, int m, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] = y[i] * x[i];
}
