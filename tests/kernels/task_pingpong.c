// Two buffers, swapped by the parity of the step.
// run: n=4 steps=3 a=1,2,0.5,0.7 b=zeros --grad b=1,2,3,4 --grad a=1,1,1,1
// expect: a = 1.1050000041723251 0.6500000059604645 0.20125000104308127 0.3683750007301569
// expect: b = 0.3591250046491623 0.06540625093877316 0.03706773464059457 0.2035271886719018
// expect: a.grad = 4.051466993 1.869525528 3.411102387 2.882810187 tol 1e-07
// expect: b.grad = 0 0 0 0 tol 1e-07
// check: n=4 steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void pingpong(int n, int steps, real a[n], real b[n])
{
    for (int t = 0; t < steps; t++) {
        if (t % 2 == 0) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++)
                b[i] = a[i] * a[(i + 1) % n] * 0.5f;
        } else {
            #pragma omp parallel for
            for (int i = 0; i < n; i++)
                a[i] = b[i] + 0.3f * b[(i + n - 1) % n] * b[i];
        }
    }
}
