// bool is 0 or 1.
// run: n=4 x=0,0.5,-2,0 f=zeros y=zeros --grad y=1,1,1,1
// expect: f = 0 1 1 0
// expect: y = 0 0.5 -2 0
// expect: x.grad = 0 1 1 0
// noverify:
#include <math.h>
#include <stdbool.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void flags(int n, const real x[n], bool f[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        f[i] = x[i];
        bool b = f[i] && true;
        y[i] = b ? x[i] : 0;
    }
}
