// Gradients of the scalars of a struct parameter.
// run: n=2 p=2,3 x=1,2 y=zeros --grad y=1,1
// expect: y = 5 11
// expect: p.grad = 5 2
// expect: x.grad = 4 8
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real a, b; } par;

void poly(int n, par p, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = p.a * x[i] * x[i] + p.b;
}
