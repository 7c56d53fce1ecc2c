// The inner bound depends on the outer variable; values carried through.
// run: n=4 x=0.1,0.2,0.3,0.4 y=zeros --grad y=1,2,3,4
// expect: y = 0.846299956130982 0.7796114808473236 0.7718153474514642 0.8181242498970401
// expect: x.grad = 4.335343224 5.958557997 4.246144719 3.928414454 tol 1e-07
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void triangle(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 1;
        for (int j = 0; j <= i; j++)
            for (int k = j; k < n; k += 2)
                s = s * 0.9f + x[j] * x[k] * s;
        y[i] = s;
    }
}
