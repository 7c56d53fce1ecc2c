// run: n=4 x=1,2,3,4 y=0 --grad y=1
// expect: y = 29.53125
// expect: x.grad = 19.6875 11.8125 8.4375 6.5625 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void horner(int n, const real x[n], real y[1])
{
    real s = 0.5f;
    for (int i = n; i != 0; i--)
        s = s * 0.5f + x[i - 1] * s;
    y[0] = s;
}
