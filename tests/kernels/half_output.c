// run: n=3 x=1.5,2,-3 y=zeros --grad y=1,1,2
// expect: y = 2.25 4 9
// expect: x.grad = 3 4 -12
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void halves(int n, const float x[n], _Float16 y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
