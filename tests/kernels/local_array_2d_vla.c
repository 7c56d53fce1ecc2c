// run: n=1 m=3 x=0.5,0.6,0.7 y=zeros --grad y=1
// expect: y = 2.3338
// expect: x.grad = 4.074 5.194 6.064 tol 1e-07
// check: n=2 m=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void table(int n, int m, const real x[n][m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real t[m + 1][m + 1];
        for (int a = 0; a <= m; a++)
            for (int b = 0; b <= m; b++)
                t[a][b] = a == 0 || b == 0 ? 1 : 0;
        for (int a = 1; a <= m; a++)
            for (int b = 1; b <= m; b++)
                t[a][b] = t[a - 1][b] * x[i][b - 1] + t[a][b - 1] * x[i][a - 1];
        y[i] = t[m][m];
    }
}
