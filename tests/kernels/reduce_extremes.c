// Nothing but infinities, NaNs that lose, ties: in vectors as one by one.
// run least: n=40 x=iota y=0 --grad y=1
// expect: x.grad = py: [1] + [0] * 39
// run largest: n=40 x=full:-inf y=0
// expect: y = -inf
// run largest: n=40 x=iota y=0 --grad y=2
// expect: x.grad = py: [0] * 39 + [2]
// run largest: n=33 x=full:5 y=0 --grad y=33
// edge: x.grad = py: [1] * 33
// run largest: n=11 x=nan,1,nan,3,nan,2,3,nan,nan,1,nan y=0 --grad y=1
// edge: y = 3
// edge: x.grad = 0 0 0 0.5 0 0 0.5 0 0 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void largest(int n, const real x[n], real y[1])
{
    real m = -INFINITY;
    #pragma omp parallel for reduction(max : m)
    for (int i = 0; i < n; i++)
        m = fmax(m, x[i]);
    y[0] = m;
}

void least(int n, const real x[n], real y[1])
{
    real m = INFINITY;
    #pragma omp parallel for reduction(min : m)
    for (int i = 0; i < n; i++)
        m = fmin(m, x[i]);
    y[0] = m;
}
