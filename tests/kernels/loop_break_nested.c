// break leaves the inner loop only; carried through both.
// run: n=2 x=0.9,0.4 y=zeros --grad y=1,1
// expect: y = 14.039805172558854 0.5362543226900321
// expect: x.grad = 129.8004206 1.892112101 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void two(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[i];
        for (int j = 0; j < 4; j++) {
            int k = 0;
            while (1) {
                s = s * 1.3f * x[i] + 0.2f;
                if (++k > j || s > 2)
                    break;
            }
            if (s > 3)
                break;
            s += 0.1f * j;
        }
        y[i] = s * s;
    }
}
