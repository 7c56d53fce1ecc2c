// Tasks under kernel-level conditions.
// run: n=3 way=1 x=1,2,3 y=zeros --grad y=1,2,3
// expect: y = 1 4 9
// expect: x.grad = 2 8 18
// run: n=3 way=0 x=1,2,3 y=zeros --grad y=1,2,3
// expect: y = 1 8 27
// expect: x.grad = 3 24 81
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void either(int n, int way, const real x[n], real y[n])
{
    if (way) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] = x[i] * x[i];
    } else {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] = x[i] * x[i] * x[i];
    }
}
