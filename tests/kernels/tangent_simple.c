// Forward mode.
// run: n=3 k=2 x=1,2,3 y=zeros --dot x=1,10,100 --dot k=1
// expect: y = 2 8 18
// expect: y.dot = 5 84 1209
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void square(int n, real k, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = k * x[i] * x[i];
}
