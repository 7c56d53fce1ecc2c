// A local array overwritten in a time loop.
// run: n=2 steps=3 x=0.5,0.2,0.3,0.9,0.7,0.1 y=zeros --grad y=1,2
// expect: y = 0.019077565243476327 0.1889426880101179
// expect: x.grad = 0.03370460717 0.1349689618 0.1568203375 1.287445372 1.909920436 4.125935152 tol 1e-07
// check: n=2 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void local(int n, int steps, const real x[n][3], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a[3];
        for (int j = 0; j < 3; j++)
            a[j] = x[i][j];
        for (int t = 0; t < steps; t++)
            for (int j = 0; j < 3; j++)
                a[j] = a[j] * a[(j + 1) % 3] + 0.5f * sin(a[(j + 2) % 3]);
        y[i] = a[0] * a[1] + a[2];
    }
}
