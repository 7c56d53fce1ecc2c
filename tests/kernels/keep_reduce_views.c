// The time step of each step is a max reduction; the state moves from u[t] to u[t + 1].
// run: n=4 steps=3 u=0.1,1,0.7,0.3,9,9,9,9,9,9,9,9,9,9,9,9 --grad u=0,0,0,0,1,1,1,1,0,0,0,0,1,2,3,4
// expect: u = 0.1 1 0.7 0.3 0.10193236717757925 0.9130434770089342 0.720289855364582 0.3115942030654754 0.10408557094711307 0.838428596940884 0.7342781084756012 0.32442468661769164 0.10648471796377665 0.7740206006843362 0.742278230707727 0.3383343682558132
// expect: u.grad = 2.673926691 2.623992433 3.915120912 5.170652909 0 0 0 0 0 0 0 0 0 0 0 0 tol 1e-06
// check: n=4 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void advect(int n, int steps, real u[steps + 1][n])
{
    for (int t = 0; t < steps; t++) {
        real top = 0;
        #pragma omp parallel for reduction(max: top)
        for (int i = 0; i < n; i++)
            top = fmax(top, fabs(u[t][i]) + 0.1f * u[t][(i + 1) % n]);
        real dt = 0.2f / (1 + top);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            u[t + 1][i] = u[t][i] - dt * u[t][i] * (u[t][i] - u[t][(i + n - 1) % n]);
    }
}
