// run: n=2 m=3 x=1,2,3,4,5,6 y=0 --grad y=1
// expect: y = 91
// expect: x.grad = 2 4 6 8 10 12
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void all(int n, int m, const real x[n][m], real y[1])
{
    real s = 0;
    #pragma omp parallel for collapse(2) reduction(+:s)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += x[i][j] * x[i][j];
    y[0] = s;
}
