// Atomic sums and products into local arrays, which the launch keeps for its adjoint.
// run: n=5 x=1,2,3,-1,0.5 p=0,1,2,0,1 y=zeros --grad y=1,2,3
// expect: y = 1.5344394077683379 -3.2477015641699785 0.5100197914587842
// expect: x.grad = -0.1804480738 1.659629045 12.16074648 -0.6355835925 2.290333204 tol 1e-06
// check: n=5 p=0,1,2,0,1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bins(int n, const real x[n], const int p[n], real y[3])
{
    real sum[3], product[3];
    for (int k = 0; k < 3; k++) {
        sum[k] = 0.5f * k;
        product[k] = 1;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        sum[p[i]] += x[i] * x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        product[p[i]] *= x[i] + 0.25f;
    }
    for (int k = 0; k < 3; k++)
        y[k] = sin(sum[k]) * product[(k + 1) % 3];
}
