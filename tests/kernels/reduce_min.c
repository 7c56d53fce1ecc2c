// run: n=4 x=3,1,3,4 y=0 --grad y=2
// expect: y = 1
// expect: x.grad = 0 2 0 0
// run: n=4 x=2,1,1,2 y=0 --grad y=3
// edge: x.grad = 0 1.5 1.5 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void smallest(int n, const real x[n], real y[1])
{
    real m = 1e30f;
    #pragma omp parallel for reduction(min:m)
    for (int i = 0; i < n; i++)
        m = x[i] < m ? x[i] : m;
    y[0] = m;
}
