// run: n=2 x=0.5,2 y=zeros --grad y=1,1
// expect: y = py: [v * v + v + 3 * v * v for v in x]
// expect: x.grad = py: [8 * v + 1 for v in x]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void init(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a[4] = {x[i] * x[i], [2] = 3};
        const real b[] = {1, 1, x[i] * x[i], 1};
        real s = x[i];
        for (int j = 0; j < 4; j++)
            s += a[j] * b[j];
        y[i] = s;
    }
}
