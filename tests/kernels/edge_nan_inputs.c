// NaN passes through, and comparisons with it are false.
// run: n=2 x=nan,1 y=zeros
// edge: y = 2 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void nans(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = isnan(x[i]) ? 2 : x[i] == x[i] ? 1 : 0;
}
