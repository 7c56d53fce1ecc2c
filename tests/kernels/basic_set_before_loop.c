// A value set before a loop and used after it.
// run: n=2 m=3 x=0.5,1.5 y=zeros --grad y=1,2
// expect: y = 0.334930303792743 6.262976028108136
// expect: x.grad = 1.576687496 23.10389858 tol 1e-07
// check: n=3 m=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void before(int n, int m, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a = sin(x[i]);
        real s = x[i];
        for (int j = 0; j < m; j++)
            s = s * s * 0.5f + a;
        y[i] = s * a;
    }
}
