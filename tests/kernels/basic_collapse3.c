// run: n=2 m=2 k=3 x=1,2,3,4,5,6,7,8,9,10,11,12 y=zeros --grad y=1,2,3,4,5,6,7,8,9,10,11,12
// expect: y = 29 42 57 14 27 42 24 38 54 48 62 78
// expect: x.grad = 111 145 183 81 109 141 58 81 108 31 48 69 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void cube(int n, int m, int k, const real x[n][m][k], real y[n][m][k])
{
    #pragma omp parallel for collapse(3)
    for (int a = 0; a < n; a++)
        for (int b = 0; b < m; b++)
            for (int c = 0; c < k; c++)
                y[a][b][c] = x[a][b][c] * (a + 1) + x[a][(b + 1) % m][c] * x[n - 1 - a][b][c];
}
