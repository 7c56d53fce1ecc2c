// Multiplied by zero further on: sqrt'(0)-like infinities do not leak.
// run: n=2 w=0,2 x=0,1 y=zeros --grad y=1,1
// edge: x.grad = 0 2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void chain(int n, const real w[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real l = x[i] > 0 ? log(x[i]) : 0;
        y[i] = w[i] * l;
    }
}
