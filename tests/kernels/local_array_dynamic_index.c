// run: n=4 k=0,2,1,2 x=1,2,3,4 y=zeros --grad y=1,1,1,1
// expect: y = 6 13 10 39
// expect: x.grad = 4 9 2.666666667 17 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void pick(int n, const int k[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a[3] = {x[i], x[i] * x[i], 1 / x[i]};
        a[k[i]] *= a[(k[i] + 1) % 3];
        y[i] = a[0] + 2 * a[1] + 3 * a[2];
    }
}
