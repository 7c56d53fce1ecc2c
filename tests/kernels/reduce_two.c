// Two reductions in one loop, and an integer one.
// run: n=4 x=1,2,3,4 y=0,0,0 --grad y=1,1,1
// expect: y = 10 30 2
// expect: x.grad = 3 5 7 9
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void both(int n, const real x[n], real y[3])
{
    real s = 0, q = 0;
    int c = 0;
    #pragma omp parallel for reduction(+:s, q, c)
    for (int i = 0; i < n; i++) {
        s += x[i];
        q += x[i] * x[i];
        if (x[i] > 2.5f)
            c++;
    }
    y[0] = s;
    y[1] = q;
    y[2] = (real)c;
}
