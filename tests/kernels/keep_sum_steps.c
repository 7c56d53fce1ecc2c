// Forces scattered atomically in each step of a simulation, into an array that is cleared each time;
// in some steps another loop adds to it as well.
// run: n=4 m=4 steps=3 ends=0,1,1,2,2,3,3,0 x=0,1,2.5,3 v=zeros f=zeros --grad x=1,0,0,2
// expect: x = 0.05516975260608412 1.0018937173697502 2.506090880202558 3.067505472782188
// expect: x.grad = 2.100101039 -0.04298109006 0.01478221712 0.9252766655 tol 1e-06
// expect: v.grad = 1.026077411 -0.04952674947 -0.0003691021002 -1.49385298 tol 1e-06
// check: n=4 m=4 steps=4 ends=0,1,1,2,2,3,3,0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void chain(int n, int m, int steps, const int ends[m][2], real x[n], real v[n], real f[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            f[i] = -0.1f * v[i];
        #pragma omp parallel for
        for (int s = 0; s < m; s++) {
            int a = ends[s][0], b = ends[s][1];
            real d = x[b] - x[a], k = 0.1f * d * d * d;
            #pragma omp atomic
            f[a] += k;
            #pragma omp atomic
            f[b] -= k;
        }
        if (t % 2 == 1) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                #pragma omp atomic
                f[i / 2] += x[i] * v[i];
            }
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            v[i] += 0.1f * sin(f[i]);
            x[i] += 0.1f * v[i] * f[i];
        }
    }
}
