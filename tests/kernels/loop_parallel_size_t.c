// run: n=3 x=1,2,3 y=zeros --grad y=1,2,3
// expect: y = 1 4 9
// expect: x.grad = 2 8 18
#include <math.h>
#include <stddef.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sizes(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (size_t i = 0; i < (size_t)n; i++)
        y[i] = x[i] * x[i];
}
