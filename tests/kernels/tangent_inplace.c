// run: n=3 x=1,2,3 --dot x=1,1,1
// expect: x = 1 3 6
// expect: x.dot = 1 2 3
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
