// run: n=2 x=1,2 y=zeros z=zeros --grad y=1,2 --grad z=3,4
// expect: y = 1 4
// expect: z = 1 4
// expect: x.grad = 8 24
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void chain(int n, const real x[n], real y[n], real z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = z[i] = x[i] * x[i];
    }
}
