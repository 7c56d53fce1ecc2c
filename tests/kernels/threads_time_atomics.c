// In-place state and atomics, repeated; every thread adds to the same few elements.
// run: n=12000 steps=3 g=0.5 x=zeros a=zeros --grad a=1
// expect: a = 1.0625 tol 1e-4
// expect: g.grad = 4.25 tol 1e-4
// noverify:
// check: n=6 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void swarm(int n, int steps, const real g[1], real x[n], real a[1])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = 0.5f * x[i] + g[0] * g[0];
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            #pragma omp atomic
            a[0] += x[i] / n;
        }
    }
}
