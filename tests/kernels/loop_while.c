// run: n=3 x=0.3,2,9 y=zeros --grad y=1,1,1
// expect: y = 0.3 0.8400000131130219 0.8217489218565641
// expect: x.grad = 1 0.4400000072 0.1243535203 tol 1e-07
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void halve(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v = x[i];
        while (v > 1)
            v = v * 0.4f + 0.1f * v * v * 0.1f;
        y[i] = v;
    }
}
