// run: n=2 x=0.3,2,0.3,-2,0.3,-2 y=zeros --grad y=ones
// expect: y = py: [sqrt(v) for v in x[0:2]] + [copysign(abs(v) ** (1/3), v) for v in x[2:4]] + [abs(v) for v in x[4:6]]
// expect: x.grad = py: [0.5 / sqrt(v) for v in x[0:2]] + [abs(v) ** (-2/3) / 3 for v in x[2:4]] + [1, -1]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void roots(int n, const real x[3][n], real y[3][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = sqrt(x[0][i]);
        y[1][i] = cbrt(x[1][i]);
        y[2][i] = fabs(x[2][i]);
    }
}
