// The induction variable is multiplied, not added to.
// run: n=2 m=20 x=0.9,0.4 y=zeros --grad y=1,1
// expect: y = 39.538125 7.810000000000001
// expect: x.grad = 87.8625 39.05 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void geometric(int n, int m, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        for (int j = 1; j < m; j *= 2)
            s += j * x[i] * x[i] + s * 0.5f;
        y[i] = s;
    }
}
