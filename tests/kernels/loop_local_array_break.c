// A local array filled until a condition; its length is data.
// run: n=2 x=0.9,0.5 y=zeros --grad y=1,2
// expect: y = 16.05843707104133 0.5
// expect: x.grad = 160.1653137 2 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void fill(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a[8];
        int used = 0;
        real v = x[i];
        for (int j = 0; j < 8; j++) {
            a[j] = v;
            used++;
            v *= x[i] * 1.05f;
            if (v < 0.4f)
                break;
        }
        real s = 0;
        for (int j = used - 1; j >= 0; j--)
            s = s * x[i] + a[j] * (j + 1);
        y[i] = s;
    }
}
