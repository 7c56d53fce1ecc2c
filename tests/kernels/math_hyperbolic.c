// run: n=2 x=0.3,-0.7,0.3,-0.7,0.3,-0.7,0.3,-3,1.3,4,0.3,-0.9 y=zeros --grad y=ones
// expect: y = py: [sinh(v) for v in x[0:2]] + [cosh(v) for v in x[2:4]] + [tanh(v) for v in x[4:6]] + [asinh(v) for v in x[6:8]] + [acosh(v) for v in x[8:10]] + [atanh(v) for v in x[10:12]]
// expect: x.grad = py: [cosh(v) for v in x[0:2]] + [sinh(v) for v in x[2:4]] + [1 - tanh(v) ** 2 for v in x[4:6]] + [1 / sqrt(1 + v * v) for v in x[6:8]] + [1 / sqrt(v * v - 1) for v in x[8:10]] + [1 / (1 - v * v) for v in x[10:12]]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void hyper(int n, const real x[6][n], real y[6][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = sinh(x[0][i]);
        y[1][i] = cosh(x[1][i]);
        y[2][i] = tanh(x[2][i]);
        y[3][i] = asinh(x[3][i]);
        y[4][i] = acosh(x[4][i]);
        y[5][i] = atanh(x[5][i]);
    }
}
