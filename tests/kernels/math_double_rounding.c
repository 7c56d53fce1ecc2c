// sin(x) of a float is computed in double and rounded once.
// run: n=4 x=1e-3,0.1,1,100 y=zeros
// expect: y = py: [sin(v) for v in x] tol 1e-7
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void rounded(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sin(x[i]);
}
