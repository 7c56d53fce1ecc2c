// A kernel-level scratch array, rewritten at every step.
// run: n=3 steps=3 x=0.5,0.6,0.7 --grad x=1,2,3
// expect: x = 0.7503042571773764 0.845044222243008 0.939060842197318
// expect: x.grad = 4.427617551 4.832118772 5.364289724 tol 1e-07
// check: n=4 steps=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scratch(int n, int steps, real x[n])
{
    real t[n][2];
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            t[i][0] = x[i] * x[(i + 1) % n];
            t[i][1] = sin(x[i]);
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] + 0.3f * t[(i + 1) % n][0] * t[i][1];
    }
}
