// rg_stop() of the captured value is the way out where its gradient is not wanted.
// run: n=4 w=0.5 c=0 y=0 --grad y=1
// expect: y = 30
// edge: w.grad = 60
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#ifndef __RETROGRAD__
#define rg_stop(x) (x)
#endif

void stopped(int n, real w, real c[1], real y[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real old;
        #pragma omp atomic capture
        old = c[0] += w + 1.5f;
        #pragma omp atomic
        y[0] += w * rg_stop(old) * 3;
    }
}
