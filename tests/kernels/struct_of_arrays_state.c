// Two fields, updated in place through time with fixed arrays inside.
// run: n=2 steps=3 s=1,0.5,0.2,0.1,0.3,0.4,0.6,0.8 --grad s=1,2,3,4,5,6,7,8
// expect: s = 1.0158241088028679 0.5079120544014339 -0.020323691321072854 -0.010161845660536427 0.43101589741858654 0.574687863224782 0.3609058152516716 0.48120775366889557
// expect: s.grad = 2.054223101 1.921662375 3.401235963 4.592498533 7.214282168 9.953831112 8.710562478 10.16576972 tol 1e-07
// check: n=2 steps=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x[2], v[2]; } particle;

void orbit(int n, int steps, particle s[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            real r2 = 0.1f;
            for (int d = 0; d < 2; d++)
                r2 += s[i].x[d] * s[i].x[d];
            for (int d = 0; d < 2; d++) {
                s[i].v[d] -= 0.1f * s[i].x[d] / r2;
                s[i].x[d] += 0.1f * s[i].v[d];
            }
        }
    }
}
