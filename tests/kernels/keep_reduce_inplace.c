// The data of a reduction is overwritten by means of its result, again and again.
// run: n=4 steps=3 x=1,2,-2,0.5 --grad x=1,0,0,1
// expect: x = 0.6049590085245645 0.6255434768306696 -0.03485994362673872 0.48693818498631875
// expect: x.grad = 0.06840886391 0.08556304641 -0.0276056105 0.1770883982 tol 1e-06
// check: n=4 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void normalise(int n, int steps, real x[n])
{
    for (int t = 0; t < steps; t++) {
        real s = 0.25f;
        #pragma omp parallel for reduction(+: s)
        for (int i = 0; i < n; i++)
            s += x[i] * x[i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = sin(x[i]) / sqrt(s) + 0.1f;
    }
}
