// How often the reduction runs is not known before the launch: it runs again in the adjoint.
// run: n=3 x=0.5,0.25,0.75 y=0 --grad y=1
// expect: y = 0.9809523809523809
// expect: x.grad = 0.2222222222 0.32 0.1632653061 tol 1e-06
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void converge(int n, const real x[n], real y[1])
{
    real a = 1, step = 1;
    while (step * step > 0.01f) {
        real s = 0;
        #pragma omp parallel for reduction(+: s)
        for (int i = 0; i < n; i++)
            s += x[i] / (a + x[i]);
        step = s - a;
        a = a + 0.5f * step;
    }
    y[0] = a;
}
