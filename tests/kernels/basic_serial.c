// No pragma at all: one serial task.
// run: n=4 x=1,2,3,4 --grad x=1,1,1,1
// expect: x = 1 3 6 10
// expect: x.grad = 4 3 2 1
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void prefix(int n, real x[n])
{
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
}
