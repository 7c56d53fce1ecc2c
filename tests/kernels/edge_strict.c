// One-sided limits where the convention is zero.
// run: x=0 y=0 out=zeros:7 --grad out=1,0,0,0,0,0,0 --edges strict
// edge: x.grad = inf
// run: x=0 y=0 out=zeros:7 --grad out=0,1,0,0,0,0,0 --edges strict
// edge: x.grad = 1
// run: x=0 y=0 out=zeros:7 --grad out=0,0,1,0,0,0,0 --edges strict
// edge: x.grad = 1
// edge: y.grad = 1
// run: x=0 y=0 out=zeros:7 --grad out=0,0,0,1,0,0,0 --edges strict
// edge: x.grad = inf
// run: x=0 y=0 out=zeros:7 --grad out=0,0,0,0,1,0,0 --edges strict
// edge: x.grad = inf
// edge: y.grad = -inf
// run: x=0 y=0 out=zeros:7 --grad out=0,0,0,0,0,1,0 --edges strict
// edge: x.grad = 1
// edge: y.grad = -1
// run: x=0 y=0 out=zeros:7 --grad out=0,0,0,0,0,0,1 --edges strict
// edge: x.grad = 1
// run: x=0 y=0 out=zeros:7 --grad out=1,1,1,1,1,1,1
// edge: x.grad = 0
// edge: y.grad = 0
// run: x=0 y=0 out=zeros:7 --grad out=zeros --edges strict
// edge: x.grad = 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void edges(const real x[1], const real y[1], real out[7])
{
    out[0] = sqrt(x[0]);
    out[1] = fabs(x[0]);
    out[2] = hypot(x[0], y[0]);
    out[3] = cbrt(x[0]);
    out[4] = atan2(x[0], y[0]);
    out[5] = fdim(x[0], y[0]);
    out[6] = copysign(x[0], y[0]);
}
