// run: n=2 x=0.9,0.4 y=zeros --grad y=1,1
// expect: y = 0.5507199127436713 0.06201545659618836
// expect: x.grad = 1.309161533 0.4537301105 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void parts(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 1;
        int j = 0;
        for (;;) {
            if (j >= 5)
                break;
            s = sin(s * x[i]) + (j & 1 ? s : 0);
            j += 2;
        }
        y[i] = s;
    }
}
