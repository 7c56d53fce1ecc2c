// private, firstprivate, shared, default, schedule, num_threads.
// run: n=3 x=1,2,3 y=zeros --grad y=1,1,1
// expect: y = 4 9 16
// expect: x.grad = 4 6 8
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void clauses(int n, const real x[n], real y[n])
{
    real t, c = 2;
    #pragma omp parallel for private(t) firstprivate(c) shared(x, y) schedule(static, 2) num_threads(2)
    for (int i = 0; i < n; i++) {
        t = x[i] * x[i] + 1;
        y[i] = t + c * x[i];
    }
}
