// run: n=3 x=0.3,-0.7,1.2,0.3,-0.7,1.2,0.3,-0.7,1.2,0.3,-0.7,0.9,0.3,-0.7,0.9,0.3,-0.7,5 y=zeros --grad y=ones
// expect: y = py: [sin(v) for v in x[0:3]] + [cos(v) for v in x[3:6]] + [tan(v) for v in x[6:9]] + [asin(v) for v in x[9:12]] + [acos(v) for v in x[12:15]] + [atan(v) for v in x[15:18]]
// expect: x.grad = py: [cos(v) for v in x[0:3]] + [-sin(v) for v in x[3:6]] + [1 / cos(v) ** 2 for v in x[6:9]] + [1 / sqrt(1 - v * v) for v in x[9:12]] + [-1 / sqrt(1 - v * v) for v in x[12:15]] + [1 / (1 + v * v) for v in x[15:18]]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void trig(int n, const real x[6][n], real y[6][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = sin(x[0][i]);
        y[1][i] = cos(x[1][i]);
        y[2][i] = tan(x[2][i]);
        y[3][i] = asin(x[3][i]);
        y[4][i] = acos(x[4][i]);
        y[5][i] = atan(x[5][i]);
    }
}
