// Swapping carried values.
// run: n=2 x=0.5,0.8 y=zeros --grad y=1,1
// expect: y = 4.859375 16.215910400000006
// expect: x.grad = 20.65625 61.918016 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void fib(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a = x[i], b = 1;
        for (int j = 0; j < 7; j++) {
            real t = a + b * x[i];
            a = b;
            b = t;
        }
        y[i] = b;
    }
}
