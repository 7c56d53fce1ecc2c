// In-place sweeps, repeated: the state of every sweep is needed backward.
// run: n=5 steps=3 x=1,2,0.5,1.5,1 --grad x=1,2,3,4,5
// expect: x = 1 1.3754652042375828 0.613047841943778 0.6144944216371568 1
// expect: x.grad = 7.121183084 9.169938167 6.52871485 6.388568806 8.032128862 tol 1e-07
// check: n=6 steps=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void seidel(int n, int steps, real x[n])
{
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            x[i] = 0.3f * x[i] * x[i] + 0.25f * (x[i - 1] * x[i] + x[i + 1]);
}
