// Iterates until it converges: sqrt by Newton's method.
// run: n=3 x=2,9,0.25 y=zeros --grad y=1,1,1
// expect: y = py: [sqrt(v) for v in x] tol 1e-6
// expect: x.grad = py: [0.5 / sqrt(v) for v in x] tol 1e-5
// check: n=3 x=2,9,0.25
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void root(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 1;
        for (int it = 0; it < 50; it++) {
            real next = 0.5f * (s + x[i] / s);
            real d = fabs(next - s);
            s = next;
            if (d < 1e-4f * s)
                break;
        }
        y[i] = s;
    }
}
