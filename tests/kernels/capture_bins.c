// Captures in a loop in a parallel loop in a loop: a record for each of their iterations.
// run: n=4 m=2 x=1,2,3,4 out=ones:256 --grad out=ones
// expect: x.grad = 9 9 9 9
// check-in-order:
// check: n=1 m=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bins(int n, int m, const real x[n], real out[m * 128])
{
    int head[m];
    for (int i = 0; i < m; i++)
        head[i] = 0;
    for (int t = 0; t < 3; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 2; j++) {
                int b = (i + j * t) % m, k;
                #pragma omp atomic capture
                { k = head[b]; head[b] += 1; }
                if (k < 128)
                    out[b * 128 + k] = x[i] * (real)(j + 1) + out[b * 128 + k];
            }
    }
}
