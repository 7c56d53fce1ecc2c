// run: n=2 x=0.3,-0.7,0.3,-0.7,2.5,0.6,2.5,-0.6 y=zeros --grad y=ones
// expect: y = py: [erf(v) for v in x[0:2]] + [erfc(v) for v in x[2:4]] + [gamma(v) for v in x[4:6]] + [lgamma(v) for v in x[6:8]]
// expect: x.grad = 1.03126091 0.6912748604 -1.03126091 -0.6912748604 0.9347345216 -2.294278192 0.7031566406 -0.8947178779 tol 1e-06
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void special(int n, const real x[4][n], real y[4][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = erf(x[0][i]);
        y[1][i] = erfc(x[1][i]);
        y[2][i] = tgamma(x[2][i]);
        y[3][i] = lgamma(x[3][i]);
    }
}
