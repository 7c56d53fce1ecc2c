// The exponent's gradient at a zero base is zero.
// run: n=3 a=0,0,2 b=2,0.5,3 y=zeros --grad y=1,1,1
// edge: b.grad = py: [0, 0, 8 * log(2)]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void powers(int n, const real a[n], const real b[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(a[i], b[i]);
}
