// pow(x, 2) of any sign.
// run: n=3 x=0,-3,3 y=zeros --grad y=1,1,1
// expect: y = 0 9 9
// expect: x.grad = 0 -6 6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void squares(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(x[i], 2);
}
