// L = (sqrt(x) - 2)^2 at x = 4: the first derivative is zero, the second is not.
// run: x=4,9 l=zeros:2 --grad l=1,1 --dot x=1,1
// edge: x.grad = py: [0, 1 - 2/3] tol 1e-5
// edge: x.hvp = py: [0.125, 1/27] tol 1e-5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void loss(const real x[2], real l[2])
{
    for (int i = 0; i < 2; i++)
        l[i] = (sqrt(x[i]) - 2) * (sqrt(x[i]) - 2);
}
