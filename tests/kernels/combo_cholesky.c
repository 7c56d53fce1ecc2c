// In-place factorisation, serial.
// run: n=3 a=4,1,0.5,1,3,0.2,0.5,0.2,5 --grad a=1,0,0,2,3,0,4,5,6
// expect: a = 2 1 0.5 0.5 1.6583123951777 0.2 0.25 0.04522670168666455 2.221588293418595
// expect: a.grad = 0.1670467256 0 0 0.2001063567 0.8644232691 0 0.9270396771 2.94145607 1.350385222 tol 1e-07
// check: n=3 a=4,1,0.5,1,3,0.2,0.5,0.2,5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void cholesky(int n, real a[n][n])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            a[j][j] -= a[j][k] * a[j][k];
        a[j][j] = sqrt(a[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
}
