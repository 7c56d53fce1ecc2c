// run: n=4 x=-2,0.5,1,3 y=zeros --grad y=1,1,1,1
// expect: y = 4 0.5 1 1.5
// expect: x.grad = -4 1 1 0.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void pieces(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] < 0 ? x[i] * x[i] : x[i] > 2 ? x[i] / 2 : x[i];
}
