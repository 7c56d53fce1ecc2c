// run: n=3 x=1,2,3 y=zeros --grad y=1,1,1
// expect: y = 6 14 24
// expect: x.grad = 7 9 11
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void odd(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int a = 2, b;
        real v = x[i];
        b = a++ * 3;
        b -= --a, b++;
        v = (a += 1, v * v) + v * b;
        y[i] = v;
        y[i] += 0 * a;
    }
}
