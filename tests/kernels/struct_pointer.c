// Device functions change a struct through a pointer.
// run: n=2 x=0.5,2 y=zeros --grad y=1,3
// expect: y = 0.4629357517192713 1.4275548573478247
// expect: x.grad = 0.8526110238 1.323333496 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real pos, vel; } state;

static void step(state *s, real force, real dt)
{
    s->vel += dt * force;
    s->pos += dt * s->vel;
}

void fall(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        state s = {x[i], 0};
        for (int t = 0; t < 5; t++)
            step(&s, -s.pos * x[i], 0.1f);
        y[i] = s.pos;
    }
}
