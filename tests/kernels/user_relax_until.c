// Parallel loops inside a while whose condition they compute.
// check: n=5 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void relax(int n, int steps, real x[n], const real b[n], real tol, int done[1])
{
    real y[n];
    real change = 1;
    int it = 0;
    while (change > 1e-2f * (1 + tol * tol) && it < steps) {
        change = 0;
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            real l = i > 0 ? x[i - 1] : 0, r = i < n - 1 ? x[i + 1] : 0;
            y[i] = (b[i] + l + r) / 4;
        }
        #pragma omp parallel for reduction(max : change)
        for (int i = 0; i < n; i++) {
            real d = fabs(y[i] - x[i]);
            if (d > change) change = d;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) x[i] = y[i];
        if (it % 2 == 0) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) x[i] = x[i] * (1 + 0.1f * x[i]);
        }
        it++;
    }
    done[0] = it;
}
