// What is added has no gradient: all of the captured value's goes to what the element held before
// the loop, whatever the order. The array is computed in the kernel, and used after the loop.
// run: n=4 c0=0.5 c=0 y=zeros --grad y=1,1
// expect: y = 41 6.5
// expect: c0.grad = 25
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void shifted(int n, real c0, real c[1], real y[2])
{
    c[0] = c0 * c0 + 0.25f;
    real s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) {
        real v;
        #pragma omp atomic capture
        v = c[0] += 1;
        s += v * v;
    }
    y[0] = s;
    y[1] = c[0] + 2;
}
