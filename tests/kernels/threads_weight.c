// Enough iterations for several threads: sums of gradients that all of them share.
// run: n=20000 w=2,3 x=ones y=zeros --grad y=ones
// expect: w.grad = 20000 60000
// run: n=20000 w=2,3 x=ones y=zeros --grad y=full:0.5
// expect: w.grad = 10000 30000
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void weigh(int n, const real w[2], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = w[0] * x[i] + 0.5f * w[1] * w[1] * x[i];
}
