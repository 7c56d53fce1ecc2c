// run: n=2 x=0.3,2,0.3,2,0.3,2,0.3,-2 z=1.5,-0.5,1.5,-0.5,1.5,-0.5,-1,3 y=zeros --grad y=1,2,3,4,5,6,7,8
// expect: y = 0.3 -0.5 1.5 2 0 2.5 -0.3 2 tol 1e-6
// expect: x.grad = 1 0 0 4 0 6 -7 -8
// expect: z.grad = 0 2 3 0 0 -6 0 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void minmax(int n, const real x[4][n], const real z[4][n], real y[4][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = fmin(x[0][i], z[0][i]);
        y[1][i] = fmax(x[1][i], z[1][i]);
        y[2][i] = fdim(x[2][i], z[2][i]);
        y[3][i] = copysign(x[3][i], z[3][i]);
    }
}
