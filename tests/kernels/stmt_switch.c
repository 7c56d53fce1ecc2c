// switch with fallthrough and default.
// run: n=5 k=0,1,2,3,7 x=1,2,3,4,5 y=zeros --grad y=1,1,1,1,1
// expect: y = 1 9 9 8 0
// expect: x.grad = 2 5 3 2 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void choose(int n, const int k[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v = 0;
        switch (k[i]) {
        case 0:
            v = x[i] * x[i];
            break;
        case 1:
            v = x[i] + 1; /* falls through */
        case 2:
            v += x[i];
        case 3:
            v += 2 * x[i];
            if (k[i] == 1)
                v += x[i] - 2;
            break;
        default:
            break;
        }
        y[i] = v;
    }
}
