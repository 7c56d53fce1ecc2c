// run: n=0 x=zeros y=zeros --grad y=ones
// expect: y =
// expect: x.grad =
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void nothing(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}
