// Parallel loops in device functions; a kernel that calls a kernel.
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static void scale(int n, real *x, real s)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) x[i] *= s;
}
static real norm2(int n, const real *x)
{
    real s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}
void normalise(int n, real x[n], real y[n])
{
    real s = norm2(n, x);
    scale(n, x, 1 / sqrt(s + 0.1f));
    if (norm2(n, y) > 0.5f) scale(n, y, norm2(n, x));
}
void calls_kernel(int n, real x[n], real y[n]) { normalise(n, y, x); normalise(n, x, y); }
