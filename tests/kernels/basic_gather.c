// run: n=4 m=3 p=0,2,2,1 x=1,2,3 y=zeros --grad y=1,10,100,1000
// expect: y = 1 9 9 4
// expect: x.grad = 2 4000 660
// check: n=6 m=3 p=0,2,2,1,1,0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void gather(int n, int m, const int p[n], const real x[m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[p[i]] * x[p[i]];
}
