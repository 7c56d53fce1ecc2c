// Serial stretches between tasks touch memory.
// run: n=3 x=1,2,3 s=0 y=zeros --grad y=1,2,3
// expect: y = 4 8 12
// expect: s = 4
// expect: x.grad = 18 8 26
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void stretch(int n, const real x[n], real s[1], real y[n])
{
    s[0] = x[0] + x[n - 1];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = s[0] * x[i];
}
