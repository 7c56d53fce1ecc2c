// for j: x[i] += y[j]
// run: n=5 m=3 x=zeros y=1,2,3 --grad x=ones
// expect: x = 6 6 6 6 6
// expect: y.grad = 5 5 5
// expect: x.grad = 1 1 1 1 1
// check: n=5 m=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void spread(int n, int m, real x[n], const real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            x[i] += y[j];
}
