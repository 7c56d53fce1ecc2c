// run: n=4 steps=3 u=0.1,1,0.7,0.3,9,9,9,9,9,9,9,9,9,9,9,9 --grad u=0,0,0,0,1,1,1,1,0,0,0,0,1,2,3,4
// expect: u = 0.1 1 0.7 0.3 0.11003331682014243 0.8387058006349499 0.6011564610795783 0.24789595789132135 0.1088622113398752 0.6965647891257376 0.5088283246632213 0.2054377250734548 0.10144281618438256 0.5737867055359819 0.4257075242267515 0.17017780222348233
// expect: u.grad = 2.237554371 2.505919421 2.761222717 3.874128853 0 0 0 0 0 0 0 0 0 0 0 0 tol 1e-07
// check: n=4 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void react(int n, int steps, real u[steps + 1][n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            real l = u[t][(i + n - 1) % n], r = u[t][(i + 1) % n];
            u[t + 1][i] = u[t][i] + 0.1f * l * r - 0.2f * sin(u[t][i]);
        }
    }
}
