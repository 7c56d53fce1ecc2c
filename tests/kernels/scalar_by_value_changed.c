// A by-value parameter is a local variable.
// run: n=2 k=2 x=1,3 y=zeros --grad y=1,1
// expect: y = 5 15
// expect: k.grad = 16
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void changed(int n, real k, const real x[n], real y[n])
{
    k = k * k;
    k += 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = k * x[i];
}
