// Atomic, but each iteration has an element of its own; and a flag that all set alike.
// run: n=3 x=1,2,3 y=zeros f=0 --grad y=1,2,3
// expect: f = 1
// expect: x.grad = 2 8 18
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void own(int n, const real x[n], real y[n], int f[1])
{
    int seen[1];
    seen[0] = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic write
        y[i] = x[i] * x[i];
        #pragma omp atomic write
        seen[0] = 1;
    }
    f[0] = seen[0];
}
