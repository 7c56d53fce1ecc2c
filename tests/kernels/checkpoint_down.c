// Carried values, a loop that runs downwards in steps of two, blocks that do not divide it.
// run: n=19 x0=0.5 k=1.5 y=0 --grad y=1
// expect: x0.grad = -3.02757681 tol 0.0001
// expect: k.grad = -3.457208811 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void down(int n, const real x0[1], real k, real y[1])
{
    real s = x0[0], v = 0;
    #pragma retrograd checkpoint(4)
    for (int t = n; t > 0; t -= 2) {
        v += (real)0.125 * sin(s * k);
        s += v * (real)0.0625 * (real)t;
    }
    y[0] = s * v;
}
