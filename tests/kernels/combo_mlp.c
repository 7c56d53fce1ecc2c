// Two layers, weights shared by all samples.
// run: n=2 x=0.5,-0.3,0.8,0.1 w1=0.1,0.2,-0.3,0.4,0.5,-0.6 w2=0.7,-0.8,0.9 y=zeros --grad y=1,2
// expect: y = 0.32340749664356955 0.2728991560984247
// expect: x.grad = 0.7613442082 -0.692732383 1.466257607 -1.360352561 tol 1e-07
// expect: w1.grad = 1.556588975 -0.09400732845 -1.70857212 0.09334504412 1.770895312 -0.08874651145 tol 1e-07
// expect: w2.grad = 0.1968918415 -0.712274737 1.145297266 tol 1e-07
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void mlp(int n, const real x[n][2], const real w1[3][2], const real w2[3], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real out = 0;
        for (int h = 0; h < 3; h++) {
            real a = 0;
            for (int c = 0; c < 2; c++)
                a += w1[h][c] * x[i][c];
            out += w2[h] * tanh(a);
        }
        y[i] = out * out;
    }
}
