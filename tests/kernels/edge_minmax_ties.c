// Ties: half each.
// run: n=2 a=1,1 b=1,2 y=zeros z=zeros --grad y=1,1 --grad z=10,10
// edge: y = 1 1
// edge: z = 1 2
// edge: a.grad = 5.5 1
// edge: b.grad = 5.5 10
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void ties(int n, const real a[n], const real b[n], real y[n], real z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = fmin(a[i], b[i]);
        z[i] = fmax(a[i], b[i]);
    }
}
