// The array is read, summed into, read, overwritten and summed into again.
// run: n=4 x=1,2,3,4 a=0.5,-0.5 y=zeros --grad y=1,1 --grad a=1,2
// expect: y = 196.47509268020676 2028.296490993644
// expect: a = 14.025000164285302 45.025000566616654
// expect: x.grad = 152.819395 1462.60788 463.3581853 2959.16576 tol 1e-06
// expect: a.grad = 62.88469736 357.3894699 tol 1e-06
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void again(int n, const real x[n], real a[2], real y[2])
{
    for (int k = 0; k < 2; k++)
        y[k] = a[k] * a[k];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        a[i % 2] += x[i] * x[i];
    }
    for (int k = 0; k < 2; k++) {
        y[k] += cos(a[k]);
        a[k] = 0.1f * a[k] * a[k];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        a[i / 2] += x[i];
    }
    for (int k = 0; k < 2; k++)
        y[k] += a[k] * a[k];
}
