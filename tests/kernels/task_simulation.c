// Force and update tasks in a time loop, in place.
// run: n=3 steps=4 dt=0.1 x=1,0.5,-0.3 v=0,0.2,0.1 f=zeros --grad x=1,2,3
// expect: x = 0.9416880777208556 0.523686477646824 -0.24588568263858193
// expect: v = -0.2316875092719783 -0.026368897317509063 0.15558002459599352
// expect: x.grad = 0.928143145 1.848183998 2.912249677 tol 1e-07
// expect: v.grad = 0.3929339116 0.7848802529 1.191057694 tol 1e-07
// expect: dt.grad = 0.2227811116 tol 1e-07
// expect: f.grad = 0 0 0
// check: n=4 steps=3 dt=0.1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void simulate(int n, int steps, real dt, real x[n], real v[n], real f[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            f[i] = -sin(x[i]) + 0.5f * x[(i + 1) % n] * x[i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            v[i] += dt * f[i];
            x[i] += dt * v[i];
        }
    }
}
