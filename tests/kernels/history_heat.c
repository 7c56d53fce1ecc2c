// u[t+1][i] from u[t][i-1..i+1]: written once before it is read.
// run: n=5 steps=3 c=0.2 u=0,1,2,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 --grad u=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,2,3,0
// expect: u = 0 1 2 1 0 0 1 1.6 1 0 0 0.92 1.36 0.92 0 0 0.8240000000000001 1.1840000000000002 0.8240000000000001 0
// expect: u.grad = 0.2 0.968 1.648 1.4 0.344 0.2 0 0 0 0.44 0.2 0 0 0 0.6 0 0 0 0 0 tol 1e-07
// expect: c.grad = -11.04 tol 1e-07
// check: n=5 steps=3 c=0.2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void heat(int n, int steps, real c, real u[steps + 1][n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            u[t + 1][i] = u[t][i] + c * (u[t][i - 1] - 2 * u[t][i] + u[t][i + 1]);
    }
}
