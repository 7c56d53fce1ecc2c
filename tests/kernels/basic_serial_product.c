// run: n=4 x=1,2,3,4 --grad x=0,0,0,1
// expect: x = 1 2 6 24
// expect: x.grad = 24 12 8 6
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void prefix(int n, real x[n])
{
    for (int i = 1; i < n; i++)
        x[i] *= x[i - 1];
}
