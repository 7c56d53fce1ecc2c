// continue in a parallel loop.
// run: n=4 x=1,-2,3,-4 y=zeros --grad y=1,2,3,4
// expect: y = 1 0 9 0
// expect: x.grad = 2 0 18 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void positive(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            continue;
        y[i] = x[i] * x[i];
    }
}
