// run: n=2 m=5 x=0.5,0.1,0.7,0.9,0.2,0.3,0.2,0.1,0.4,0.55 y=zeros --grad y=1,1
// expect: y = 0.6311250094044953 2.8276999171360115
// expect: x.grad = 0.4207500063 0.5737500086 0.3712500055 0 0 2.175153782 2.356416598 2.570636288 2.019785655 1.824322527 tol 1e-07
// check: n=3 m=6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void until(int n, int m, const real x[n][m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0.1f;
        for (int j = 0; j < m; j++) {
            s += x[i][j] * s;
            if (x[i][j] > 0.6f)
                break;
            s *= 1.5f;
        }
        y[i] = s;
    }
}
