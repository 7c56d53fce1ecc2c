// A serial loop in each iteration works in place on a row.
// run: n=2 m=4 x=1,2,3,4,0.5,0.6,0.7,0.8 --grad x=1,1,1,1,1,2,3,4
// expect: x = 1 3 7.5 19 0.5 0.75 0.9624999999999999 1.185
// expect: x.grad = 6.5 8.25 7.5 4.75 2.083 4.5125 6.325 5.925 tol 1e-07
// check: n=2 m=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sweep(int n, int m, real x[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            x[i][j] = x[i][j] * x[i][j - 1] * 0.5f + x[i][j];
}
