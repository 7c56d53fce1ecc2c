// A function with reductions in it, called twice from another one: each call has results of its own.
// run: n=4 x=1,-2,3,0.5 y=0 --grad y=1
// expect: y = 4.690709411318134
// expect: x.grad = -0.06250800776 -0.9978472554 1.114019624 -0.1899759204 tol 1e-06
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real soft(int n, const real *x, real k)
{
    real top = -INFINITY, sum = 0;
    #pragma omp parallel for reduction(max: top)
    for (int i = 0; i < n; i++)
        top = fmax(top, k * x[i]);
    #pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += exp(k * x[i] - top);
    return top + log(sum);
}

static real both(int n, const real *x)
{
    return soft(n, x, 1) * soft(n, x, -0.5f);
}

void twice(int n, const real x[n], real y[1])
{
    y[0] = both(n, x);
}
