// run: n=3 x=0.3,2,9 y=zeros --grad y=1,1,1
// expect: y = 0.06923076923076922 0.3294723294723296 0.46653987187874557
// expect: x.grad = 0.4082840237 0.491876322 0.4547786026 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void collatz(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v = x[i];
        int k = 0;
        do {
            v = v * v / (v + 1);
            k++;
        } while (v > 0.5f && k < 20);
        y[i] = v;
    }
}
