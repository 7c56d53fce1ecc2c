// _Float16 is for storage: arithmetic in float.
// run: n=3 x=1.5,2,-3 y=zeros --grad y=1,1,1
// expect: y = 2.25 4 9
// expect: x.grad = 3 4 -6
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void halves(int n, const _Float16 x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        y[i] = v * v;
    }
}
