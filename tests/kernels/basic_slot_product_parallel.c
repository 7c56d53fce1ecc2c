// run: n=2 m=3 x=1,2,3,4,0,6 y=0,0 --grad y=1,2
// expect: y = 6 0
// expect: x.grad = 6 3 2 0 48 0
// check: n=3 m=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void product(int n, int m, const real x[n][m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = 1;
        for (int j = 0; j < m; j++)
            y[i] *= x[i][j];
    }
}
