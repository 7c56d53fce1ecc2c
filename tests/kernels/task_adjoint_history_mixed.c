// A history and an in-place array in one time loop.
// run: n=3 steps=3 a=0.5,0.6,0.7 u=1,2,3,0,0,0,0,0,0,0,0,0 --grad u=0,0,0,1,0,0,0,1,0,1,2,3 --grad a=1,1,1
// expect: u = 1 2 3 1.1000000014901161 2.000000002980232 1.0000000044703483 0.8300000064373017 0.760000009059906 0.7490000049471854 0.24457600621433262 0.36781040824278594 0.4259900075680165
// expect: a = 0.06965636233290795 0.18856920582168823 0.2215280046881451
// expect: u.grad = 1.398940471 1.326815961 0.8590356412 0 0 0 0 0 0 0 0 0 tol 1e-07
// expect: a.grad = 8.847639725 8.645067751 9.564514342 tol 1e-07
// check: n=3 steps=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void mixed(int n, int steps, real a[n], real u[steps + 1][n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            u[t + 1][i] = u[t][(i + 1) % n] * a[i] + 0.1f * u[t][i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[i] = a[i] * a[i] + 0.1f * u[t + 1][i];
    }
}
