// A store that never runs: the array is not changed, and its values are needed.
// run: n=3 x=1,2,3 w=4,5,6 y=zeros --grad y=1,1,1
// expect: w = 4 5 6
// expect: w.grad = 1 2 3
// expect: x.grad = 4 5 6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void dead(int n, const real x[n], real w[n], real y[n])
{
    for (int i = 0; i < n; i++) {
        if ((6 & 1) == 2)
            w[i] *= 0.5f;
        y[i] = w[i] * x[i];
    }
}
