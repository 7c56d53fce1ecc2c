// A recurrence kept in full, in one serial loop per row.
// run: n=2 m=4 x=0.5,0.7,0.2,0.3,0.9,0.1,0.4,0.6 h=zeros --grad h=0,0,0,0,1,0,1,0,0,2
// expect: h = 0.5 0.3799489673552295 0.4430057275678215 0.14751690548530644 0.1334542251502047 0.5 0.6169093095227518 0.09143483783250576 0.1553068726638778 0.2665851803672351
// expect: x.grad = 0.02220183606 0.03150552516 0.2141676078 0.4395466276 0.51692055 0.3956415718 0.4258151761 0.8458985809 tol 1e-07
// check: n=2 m=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scan(int n, int m, const real x[n][m], real h[n][m + 1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        h[i][0] = 0.5f;
        for (int t = 0; t < m; t++)
            h[i][t + 1] = tanh(h[i][t] * x[i][t] + 0.3f * x[i][t]);
    }
}
