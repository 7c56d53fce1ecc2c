// Functions with results through pointers.
// run: n=3 x=0.3,-1.7,5.2 y=zeros --grad y=1,1,1
// expect: y = -0.27 0.2124999999999999 6.3075
// expect: x.grad = -1.8 -2.25 0.8875 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void outs(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double whole;
        int e;
        double part = modf(x[i], &whole);
        double m = frexp(x[i], &e);
        y[i] = part * part + whole + m * m * e;
    }
}
