// run: n=3 x=1,2,3 y=zeros --grad y=1,1,1
// expect: y = py: [((v + 1) * v - 2) / (v + 3) for v in x]
// expect: x.grad = 0.75 0.84 0.8888888889 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void ops(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v = x[i];
        v += 1;
        v *= x[i];
        v -= 2;
        v /= x[i] + 3;
        y[i] = v;
    }
}
