// A reduction inside a kernel-level loop, its result carried.
// run: n=3 steps=3 x=0.5,0.25,0.75 y=0 --grad y=1
// expect: y = 1.9133741885253923
// expect: x.grad = 0.7142045321 0.8342993178 0.4496967416 tol 1e-07
// check: n=3 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void carried(int n, int steps, const real x[n], real y[1])
{
    real a = 1;
    for (int t = 0; t < steps; t++) {
        real s = 0;
        #pragma omp parallel for reduction(+:s)
        for (int i = 0; i < n; i++)
            s += x[i] * sin(a + x[i]);
        a = a * 0.5f + s;
    }
    y[0] = a;
}
