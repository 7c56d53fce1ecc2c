// A scalar that all iterations read: its gradient is the sum.
// run: n=4 k=3 x=1,2,3,4 y=zeros --grad y=1,1,1,2
// expect: k.grad = py: [2 * 3 * (1 + 4 + 9 + 2 * 16)]
// expect: x.grad = py: [18, 36, 54, 144]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scale(int n, real k, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = k * k * x[i] * x[i];
}
