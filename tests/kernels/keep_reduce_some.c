// Of four results the adjoint needs two: an integer count and a product.
// run: n=4 x=1,-2,3,0.5 y=zeros k=0 --grad y=1,1
// expect: y = 7.75 9
// expect: k = 3
// expect: x.grad = 18.66666667 -10.33333333 9 36.33333333 tol 1e-06
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void statistics(int n, const real x[n], real y[2], int k[1])
{
    real sum = 0, product = 1, top = -100;
    int positive = 0;
    #pragma omp parallel for reduction(+: sum, positive) reduction(*: product) reduction(max: top)
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
        product *= x[i];
        top = fmax(top, x[i]);
        positive += x[i] > 0;
    }
    k[0] = positive;
    y[0] = sum / positive + top;
    y[1] = product * product;
}
