// x = cos(t) * x in place.
// run: n=3 t=0.7 x=1,2,-3 --grad x=1,1,1
// expect: x = py: [cos(t) * v for v in x]
// expect: x.grad = py: [cos(t)] * 3
// expect: t.grad = py: [sum(-sin(t) * v for v in x)]
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void turn(int n, real t, real x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = cos(t) * x[i];
}
