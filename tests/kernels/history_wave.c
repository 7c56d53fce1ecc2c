// Two levels back, and a coefficient for every cell.
// run: n=5 steps=4 c=0.1,0.2,0.3,0.2,0.1 u=0,1,2,1,0,0,1,2,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --grad u=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,2,3,0
// expect: u = 0 1 2 1 0 0 1 2 1 0 0 1 1.82 1 0 0 0.9928 1.4924000000000002 0.9928 0 0 0.9658720000000001 1.0748720000000003 0.9658720000000001 0
// expect: u.grad = 0 -3.374 -5.2376 -8.7468 0 0.13496 4.849464 6.217264 11.32524 0.349872 0.084 0 0 0 0.2376 0.04 0 0 0 0.12 0 0 0 0 0 tol 1e-07
// expect: c.grad = 0 -0.34848 -11.22336 -1.01952 0 tol 1e-07
// check: n=5 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void wave(int n, int steps, const real c[n], real u[steps + 1][n])
{
    for (int t = 1; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            u[t + 1][i] = 2 * u[t][i] - u[t - 1][i]
                        + c[i] * c[i] * (u[t][i - 1] - 2 * u[t][i] + u[t][i + 1]);
    }
}
