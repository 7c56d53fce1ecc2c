// run: n=3 x=0.5,2,-1 y=zeros --grad y=1,1,1
// expect: y = 0.10785155273973945 46687.53794853754 0.6474999868869782
// expect: x.grad = 0.818749994 400226.147 -2.199999988 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real sqr(real v) { return v * v; }
static real lerp(real a, real b, real t) { return a + (b - a) * t; }
static real bump(real v)
{
    if (v < 0)
        return sqr(v);
    if (v < 1)
        return lerp(v, sqr(v), 0.25f);
    return sqr(sqr(v)) - lerp(0, v, 0.5f);
}

void nested(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = bump(bump(x[i]) - 0.3f);
}
