// A time loop of parallel loops on state in place: whole arrays at the start of each block.
// run: n=4 x=1,0.5,0.25,2 v=zeros dt=0.125 --grad x=1,1,1,1
// expect: x.grad = -0.6025448372 0.2638939385 -0.4723238996 0.1873917471 tol 0.0001
// expect: v.grad = 0.6688222947 0.9666631147 0.6917239887 0.9524301661 tol 0.0001
// expect: dt.grad = -28.49385799 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void simulate(int n, real x[n], real v[n], real dt)
{
    #pragma retrograd checkpoint(3)
    for (int t = 0; t < 10; t++) {
        real f[n];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            f[i] = -x[i] * x[(i + 1) % n];
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            v[i] += dt * f[i];
            x[i] += dt * v[i];
        }
    }
}
