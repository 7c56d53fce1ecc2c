// Places handed out by a counter of floats that has a gradient: what is captured becomes an index,
// on which no gradient depends, and the counter's own gradient passes by.
// run: n=6 x=2,-1,3,-2,0.5,4 c=0.5 out=zeros --grad out=1,1,1,1,1,1 --grad c=5
// expect: c = 4.5
// expect: x.grad = 4 0 6 0 1 8
// expect: c.grad = 5
// check: n=6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void compact(int n, const real x[n], real c[1], real out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 0) {
            real k;
            #pragma omp atomic capture
            { k = c[0]; c[0] += 1; }
            out[(int)k] = x[i] * x[i];
        }
    }
}
