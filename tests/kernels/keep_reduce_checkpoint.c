// Kept results in a loop with checkpoints: the position counts the blocks and the steps in them.
// run: n=3 steps=7 x=0.5,0.25,0.75 u=zeros --grad u=1,2,3
// expect: u = 0.3688445655874644 0.1846294058826975 0.5522425905668426
// expect: x.grad = 0.5241305795 1.370099027 1.878016265 tol 1e-06
// check: n=3 steps=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void relax(int n, int steps, const real x[n], real u[n])
{
    #pragma retrograd checkpoint(3)
    for (int t = 0; t < steps; t++) {
        real s = 1;
        #pragma omp parallel for reduction(+: s)
        for (int i = 0; i < n; i++)
            s += u[i] * u[i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            u[i] = u[i] + 0.1f * x[i] / s + 0.05f * sin(u[i]);
    }
}
