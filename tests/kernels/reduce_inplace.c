// Reductions of every kind over what the same loop updates in place.
// run: n=4 x=0.5,1.5,-0.25,2 out=1,1 --grad out=2,3
// expect: x.grad = 0 0 -12.74393559 0 tol 0.0001
// run: n=4 x=0.5,1.5,-0.25,2 out=1,1 --dot x=1,2,3,4
// expect: out.dot = -0.9375000014 -12.11893554 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inplace(int n, real x[n], real out[2])
{
    for (int t = 0; t < 2; t++) {
        real m = (real)1e30, p = 1;
        #pragma omp parallel for reduction(min: m) reduction(*: p)
        for (int i = 0; i < n; i++) {
            x[i] = x[i] * x[i] + (real)0.25 * x[i];
            m = fmin(m, x[i]);
            p *= x[i] + (real)0.5;
        }
        out[0] += m;
        out[1] = p * m;
    }
}
