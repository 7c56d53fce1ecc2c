// A bouncing ball with events: while, break and state in place.
// run: n=2 steps=12 h=1,0.5 v=0,1 --grad h=1,1
// expect: h = 0.23481999538570625 0.9348200132670996
// expect: h.grad = 1 1 tol 1e-07
// expect: v.grad = 1.200000018 1.200000018 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bounce(int n, int steps, real h[n], real v[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            v[i] -= 0.981f * 0.1f;
            h[i] += v[i] * 0.1f;
            if (h[i] < 0) {
                h[i] = -0.8f * h[i];
                v[i] = -0.8f * v[i];
            }
        }
    }
}
