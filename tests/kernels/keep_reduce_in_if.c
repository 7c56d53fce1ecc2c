// A reduction in a branch that some iterations take, and one in the other branch.
// run: n=3 steps=5 x=0.5,0.25,0.75 y=0 --grad y=1
// expect: y = 14658.651303838258
// expect: x.grad = -34170.58463 -45242.42341 -25587.19887 tol 1e-06
// check: n=3 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void branch(int n, int steps, const real x[n], real y[1])
{
    real a = 1;
    for (int t = 0; t < steps; t++) {
        real s = 0;
        if (t % 3 == 1) {
            #pragma omp parallel for reduction(+: s)
            for (int i = 0; i < n; i++)
                s += exp(-a * x[i]);
        } else if (t > 2) {
            s = 1;
            #pragma omp parallel for reduction(*: s)
            for (int i = 0; i < n; i++)
                s *= a + x[i];
        }
        a = a + s * s;
    }
    y[0] = a;
}
