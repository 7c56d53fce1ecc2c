// run: n=3 x=4,5,6 y=zeros --grad y=ones
// expect: y = 4 5 6
// expect: x.grad = 1 1 1
// expect: y.grad = 0 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void copy(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}
