// run: n=2 x=0.3,-2,0.3,-2,0.3,-2,0.3,7,0.3,7,0.3,7,-0.3,7 y=zeros --grad y=ones
// expect: y = py: [exp(v) for v in x[0:2]] + [2 ** v for v in x[2:4]] + [expm1(v) for v in x[4:6]] + [log(v) for v in x[6:8]] + [log2(v) for v in x[8:10]] + [log10(v) for v in x[10:12]] + [log1p(v) for v in x[12:14]]
// expect: x.grad = py: [exp(v) for v in x[0:2]] + [log(2) * 2 ** v for v in x[2:4]] + [exp(v) for v in x[4:6]] + [1 / v for v in x[6:8]] + [1 / v / log(2) for v in x[8:10]] + [1 / v / log(10) for v in x[10:12]] + [1 / (1 + v) for v in x[12:14]]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void logs(int n, const real x[7][n], real y[7][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = exp(x[0][i]);
        y[1][i] = exp2(x[1][i]);
        y[2][i] = expm1(x[2][i]);
        y[3][i] = log(x[3][i]);
        y[4][i] = log2(x[4][i]);
        y[5][i] = log10(x[5][i]);
        y[6][i] = log1p(x[6][i]);
    }
}
