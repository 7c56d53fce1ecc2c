// run: n=2 m=4 x=0.5,-0.1,0.7,0.9,-0.2,0.3,-0.2,0.1 y=zeros --grad y=1,1
// expect: y = 2.8449999999999998 1.13
// expect: x.grad = 0.63 0 1.35 2.05 0 0.1 0 1.3 tol 1e-07
// check: n=3 m=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void positive(int n, int m, const real x[n][m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 1;
        for (int j = 0; j < m; j++) {
            if (x[i][j] < 0)
                continue;
            s = s * x[i][j] + 1;
        }
        y[i] = s;
    }
}
