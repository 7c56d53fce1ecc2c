// run: n=2 x=0.5,0.7 y=zeros --grad y=1,1
// expect: y = 1.4667699086776236 4.245600965241523
// expect: x.grad = 12.071826 4.01607752 tol 1e-07
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void nest(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a = x[i], b = 1;
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k <= j; k++) {
                real t = a * 0.5f + b * x[i];
                b = sin(a) + 0.25f * b;
                a = t;
            }
            b *= a;
        }
        y[i] = a + b;
    }
}
