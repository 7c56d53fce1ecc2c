// Reductions over several threads.
// run: n=20000 k=2 x=ones y=zeros --grad y=1,1
// expect: y = 80000 1
// expect: k.grad = 80000
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void reduce(int n, real k, const real x[n], real y[2])
{
    real s = 0, m = 0;
    #pragma omp parallel for reduction(+:s) reduction(max:m)
    for (int i = 0; i < n; i++) {
        s += k * k * x[i] * x[i];
        m = fmax(m, x[i] * x[n - 1 - i]);
    }
    y[0] = s;
    y[1] = m;
}
