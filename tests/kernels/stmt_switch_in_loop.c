// break and continue inside a switch inside a loop.
// run: n=2 m=6 k=0,1,2,3,1,0,1,1,1,2,0,3 x=0.5,0.7 y=zeros --grad y=1,1
// expect: y = 0.5062475947978304 -0.40564226879828336
// expect: x.grad = 2.897835133 -1.121867167 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void machine(int n, int m, const int k[n][m], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 1;
        for (int j = 0; j < m; j++) {
            switch (k[i][j]) {
            case 0:
                s = s * x[i];
                break;
            case 1:
                s += x[i] * s;
                continue;
            case 2:
                s = sin(s);
                break;
            case 3:
                if (s > 1)
                    break;
                s *= 2 * x[i];
            default:
                s *= x[i];
            }
            s += 0.1f;
        }
        y[i] = s;
    }
}
