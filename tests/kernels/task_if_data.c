// The condition is read from an array.
// run: n=3 g=1.5 x=1,2,3 --grad x=1,2,3 --grad g=1
// expect: x = 1 4 9
// expect: g = 1.5
// expect: x.grad = 2 8 18
// run: n=3 g=0.5 x=1,2,3 --grad x=1,2,3
// expect: x = 0.5 1 1.5
// expect: g.grad = 14
// expect: x.grad = 0.5 1 1.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void data(int n, const real g[1], real x[n])
{
    if (g[0] > 1) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] * x[i];
    } else {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] * g[0];
    }
}
