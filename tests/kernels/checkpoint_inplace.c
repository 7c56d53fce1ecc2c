// Blocks of about sqrt(n) steps; the state is an array updated in place.
// run: n=30 x=1,0.5,0.25 k=0.5 --grad x=1,2,3
// expect: x.grad = 1.206544329 2.246312214 3.671558545 tol 0.0001
// expect: k.grad = 0.5109681617 tol 0.0001
// run: n=0 x=1,0.5,0.25 k=0.5 --grad x=1,2,3
// expect: x.grad = 1 2 3
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void steps(int n, real x[3], real k)
{
    #pragma retrograd checkpoint
    for (int t = 0; t < n; t++)
        for (int j = 0; j < 3; j++)
            x[j] += (real)0.01 * sin(x[j] * k) * x[(j + 1) % 3];
}
