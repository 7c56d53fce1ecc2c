// Inner names hide outer ones.
// run: n=2 x=3,2 y=zeros --grad y=1,1
// expect: y = py: [4 * v for v in x]
// expect: x.grad = 4 4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void hide(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[i];
        {
            real s = 5;
            s += 1;
        }
        for (int i = 0; i < 2; i++) {
            real t = s;
            s += t;
        }
        y[i] = s;
    }
}
