// Reductions inside two serial loops, one of them downwards and from 2: one result for each position.
// run: n=3 a=2 b=3 x=0.5,0.25,0.75 y=0 --grad y=1
// expect: y = 1.5579956649440891
// expect: x.grad = 0.1263343 0.1810409949 -0.07572503912 tol 1e-06
// check: n=3 a=2 b=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void nested(int n, int a, int b, const real x[n], real y[1])
{
    real p = 1;
    for (int i = 0; i < a; i++)
        for (int j = b + 1; j >= 2; j--) {
            real s = 0;
            #pragma omp parallel for reduction(+: s)
            for (int k = 0; k < n; k++)
                s += x[k] * sin(p + j * x[k]);
            p = cos(s) + i * s;
        }
    y[0] = p;
}
