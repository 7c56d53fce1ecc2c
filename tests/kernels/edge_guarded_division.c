// A guarded division gives no NaN.
// run: n=3 x=0,2,4 y=zeros --grad y=1,1,1
// edge: y = 0 0.5 0.25
// edge: x.grad = 0 -0.25 -0.0625
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inverse(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        if (x[i] != 0)
            y[i] = 1 / x[i];
    }
}
