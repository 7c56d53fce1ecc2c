// run: n=3 x=1,2,-3 --grad x=1,2,3
// expect: x = 1 4 9
// expect: x.grad = 2 8 -18
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sq(int n, real x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = x[i] * x[i];
}
