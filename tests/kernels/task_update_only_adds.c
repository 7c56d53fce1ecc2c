// Only added to, in a time loop: nothing need be kept.
// run: n=3 steps=4 x=1,2,3 y=zeros --grad y=1,2,3
// expect: y = 20 60 30
// expect: x.grad = 110 70 70 tol 1e-07
// expect: y.grad = 1 2 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void adds(int n, int steps, const real x[n], real y[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] += (t + 1) * x[i] * x[(i + 1) % n];
    }
}
