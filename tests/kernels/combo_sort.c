// A sorting network's swaps: a permutation chosen by the data.
// run: n=1 x=3,1,2,0.5 y=zeros --grad y=1,10,100,1000
// expect: y = 0.25 1 4 9
// expect: x.grad = 6000 20 400 1
// check: n=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sorted(int n, const real x[n][4], real y[n][4])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a[4];
        for (int j = 0; j < 4; j++)
            a[j] = x[i][j];
        for (int p = 0; p < 3; p++)
            for (int j = 0; j < 3 - p; j++)
                if (a[j] > a[j + 1]) {
                    real t = a[j];
                    a[j] = a[j + 1];
                    a[j + 1] = t;
                }
        for (int j = 0; j < 4; j++)
            y[i][j] = a[j] * a[j];
    }
}
