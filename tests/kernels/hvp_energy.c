// e = (x0 x1)^2 + sin(x2): H d with d = (1, 2, 3).
// run: x=1,2,0.5 e=0 --grad e=1 --dot x=1,2,3
// edge: x.grad = py: [2*1*4, 2*2*1, cos(0.5)]
// edge: x.hvp = py: [2*4*1 + 4*1*2*2, 4*1*2*1 + 2*1*2, -sin(0.5)*3]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void energy(const real x[3], real e[1])
{
    real p = x[0] * x[1];
    e[0] += p * p + sin(x[2]);
}
