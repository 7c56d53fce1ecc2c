// The body changes the loop's own variable.
// run: n=2 x=0.9,0.4 y=zeros --grad y=1,1
// expect: y = 1.5146999400003278 0.4449999726986896
// expect: x.grad = 2.709899936 1.568899933 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void skip(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[i];
        for (int j = 0; j < 10; j++) {
            s = s * 0.9f + x[i] * x[i] * j * 0.1f;
            if (j % 3 == 1)
                j += 2;
        }
        y[i] = s;
    }
}
