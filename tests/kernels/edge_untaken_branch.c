// Infinities of a branch not taken stay there, in a loop too.
// run: n=3 m=3 x=0,1,2 y=zeros --grad y=1,1,1
// edge: y = 0 0 2.0794415416798357
// edge: x.grad = 0 3 1.5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void branches(int n, int m, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        for (int j = 0; j < m; j++) {
            real l = log(x[i]);
            if (x[i] > 0)
                s += l;
        }
        y[i] = s;
    }
}
