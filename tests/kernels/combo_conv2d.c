// run: n=3 m=4 x=1,2,3,4,5,6,7,8,9,1,2,3 w=1,-1,0.5,2 y=zeros --grad y=1,2,3,4,5,6
// expect: y = 182.25 256 342.25 30.25 12.25 36
// expect: x.grad = 27 37 47 -111 57.5 77 220.5 150 22 105.5 106 144 tol 1e-07
// expect: w.grad = 1422 1775 1871 1828 tol 1e-07
// check: n=4 m=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void conv(int n, int m, const real x[n][m], const real w[2][2], real y[n - 1][m - 1])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m - 1; j++) {
            real s = 0;
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 2; b++)
                    s += w[a][b] * x[i + a][j + b];
            y[i][j] = s * s;
        }
}
