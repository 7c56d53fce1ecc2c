// run: n=3 x=iota:3 y=zeros:3 --grad y=ones:3
// expect: y = 0 1 4
// expect: x.grad = 0 2 4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void plain(int n, const real *restrict x, real *restrict y)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
