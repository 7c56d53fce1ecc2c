// Atomics from several threads, then their gradients gathered and scattered.
// run: n=30000 m=3 x=ones b=zeros y=zeros --grad y=1,2,3
// expect: b = 10000 10000 10000
// expect: y = 10000 10000 10000
// expect: b.grad = 2 4 6
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bins(int n, int m, const real x[n], real b[m], real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        b[i % m] += x[i] * x[i];
    }
    #pragma omp parallel for
    for (int j = 0; j < m; j++)
        y[j] = b[j] * b[j] / 10000;
    #pragma omp parallel for
    for (int j = 0; j < m; j++)
        b[j] = 10000;
}
