// run: n=4 m=2 p=0,1,0,0 x=1,2,3,4 y=zeros --grad y=1,10
// expect: y = 26 4
// expect: x.grad = 2 40 6 8
// expect: y.grad = 1 10
// check: n=4 m=2 p=0,1,0,0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scatter(int n, int m, const int p[n], const real x[n], real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        y[p[i]] += x[i] * x[i];
    }
}
