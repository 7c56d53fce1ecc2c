// Springs stepped in time with scatter by atomics: the whole simulation is one kernel.
// run: n=3 m=2 steps=3 ends=0,1,1,2 rest=1,0.8 x=0,1.2,2.1 v=0,0,0.1 f=zeros --grad x=1,2,3
// expect: x = 0.012223878120370154 1.1942041036575224 2.1229760086426173
// expect: x.grad = 1.065912133 1.995234459 2.938853408 tol 1e-07
// expect: v.grad = 0.2984111995 0.5877947532 0.8780334725 tol 1e-07
// expect: rest.grad = 0.06591213333 0.06114659241 tol 1e-07
// check: n=3 m=2 steps=3 ends=0,1,1,2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void cloth(int n, int m, int steps, const int ends[m][2], const real rest[m], real x[n],
           real v[n], real f[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            f[i] = -0.1f * v[i];
        #pragma omp parallel for
        for (int s = 0; s < m; s++) {
            int a = ends[s][0], b = ends[s][1];
            real d = x[b] - x[a] - rest[s];
            real k = d * (1 + d * d);
            #pragma omp atomic
            f[a] += k;
            #pragma omp atomic
            f[b] -= k;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            v[i] += 0.1f * f[i];
            x[i] += 0.1f * v[i];
        }
    }
}
