// A serial loop stores a[i], then reads a[0] under a condition.
// run: n=4 x=1,2,3,4 a=zeros y=zeros --grad y=1,1,1,1
// expect: y = 1 4 3 4
// expect: x.grad = 16 4 1 1 tol 1e-07
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void early(int n, const real x[n], real a[n], real y[n])
{
    for (int i = 0; i < n; i++) {
        a[i] = x[i] * x[i];
        if (i > 1)
            y[i] = a[0] * x[i];
        else
            y[i] = a[i];
    }
}
