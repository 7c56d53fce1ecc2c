// A dependence through an array of integers is none.
// run: n=3 x=1.2,2.7,3.1 k=zeros y=zeros --grad y=1,1,1
// expect: k = 1 2 3
// expect: y = 1 2 3
// expect: x.grad = 0 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void cut(int n, const real x[n], int k[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        k[i] = (int)x[i];
        y[i] = k[i];
    }
}
