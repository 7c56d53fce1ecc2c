// A kernel-level scalar carried through steps, from memory and back.
// run: n=3 steps=3 x=0.5,0.6,0.7 y=0 --grad x=1,2,3 --grad y=1
// expect: x = 0.8555561075647454 0.9631789245715625 1.0708017415783795
// expect: y = 1.4652269739662895
// expect: x.grad = 21.97439503 2.15245634 19.12793607 tol 1e-07
// check: n=3 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void carried(int n, int steps, real x[n], real y[1])
{
    real k = 1;
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] * k + 0.1f;
        k = k * 0.5f + x[0] * x[n - 1];
    }
    y[0] = k;
}
