// Derivative zero, and no error.
// run: n=6 x=0.3,-0.7,1.6,0.3,-2.4,2.6 y=zeros --grad y=ones
// expect: y = 0.6 -1.4 4.2 0.6 -6.8 8.2
// expect: x.grad = 2 2 2 2 2 2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void rounding(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        switch (i) {
        case 0: y[i] = floor(x[i]); break;
        case 1: y[i] = ceil(x[i]); break;
        case 2: y[i] = trunc(x[i]); break;
        case 3: y[i] = round(x[i]); break;
        case 4: y[i] = rint(x[i]); break;
        case 5: y[i] = nearbyint(x[i]); break;
        }
        y[i] += 2 * x[i];
    }
}
