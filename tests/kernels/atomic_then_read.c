// Sums made by atomics feed a later task.
// run: n=4 m=2 p=0,1,0,1 x=1,2,3,4 a=zeros y=zeros --grad y=1,1
// expect: y = 16 36
// expect: x.grad = 8 12 8 12
// check: n=4 m=2 p=0,1,0,1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bins(int n, int m, const int p[n], const real x[n], real a[m], real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        a[p[i]] += x[i];
    }
    #pragma omp parallel for
    for (int j = 0; j < m; j++)
        y[j] = a[j] * a[j];
}
