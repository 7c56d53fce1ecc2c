// log at 0: the true infinity.
// run: n=2 x=0,2 y=zeros --grad y=1,1
// edge: x.grad = inf 0.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void logs(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log(x[i]);
}
