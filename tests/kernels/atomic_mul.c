// Each gets the product of the others, also when one factor of an element is zero, or two are.
// run: n=7 m=3 bin=0,1,2,0,1,2,2 x=2,3,0,4,0,0,5 y=1.5,2,7 --grad y=1,1,1
// expect: y = 12 0 0
// edge: x.grad = 6 0 0 3 6 0 0
// edge: y.grad = 8 0 0
// run: n=5 m=2 bin=0,1,0,1,0 x=3,5,2,4,6 y=1,2 --grad y=1,3
// expect: x.grad = 12 24 18 30 6 tol 1e-5
// expect: y.grad = 36 60
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void product(int n, int m, const int bin[n], const real x[n], real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int b = bin[i] < 0 || bin[i] >= m ? 0 : bin[i];
        #pragma omp atomic
        y[b] *= x[i];
    }
}
