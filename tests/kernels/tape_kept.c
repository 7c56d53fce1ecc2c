// Results that the forward sweep keeps for each step: of functions, in loops of lengths that are not
// constants, under an if, and of an inner loop that only makes a sum.
// run: n=6 m=5 x=randn:1:6x5 w=rand:2:5 y=zeros --grad y=ones
// expect: w.grad = 3.39031 7.33753 -2.11716 -2.56959 -6.74292 tol 0.002
// run: n=12 m=5 x=randn:1:12x5 w=rand:2:5 y=zeros --grad y=ones --tape-memory 1200
// expect: w.grad = 5.33242 -4.49358 -6.07418 -3.86859 0.596892 tol 0.002
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void chain(int n, int m, const real x[n][m], const real w[m], real y[m])
{
    real s = 1;
    for (int j = 0; j < m; j++)
        y[j] = 0;
    for (int i = 0; i < n; i++) {
        real dot = 0;
        for (int j = 0; j < m; j++)
            dot += w[j] * x[i][j] * s;
        s = s * (real)0.5 + dot * dot / (1 + dot * dot);
        for (int j = 0; j < m; j++)
            if (x[i][j] > 0)
                y[j] += s * exp(-y[j] * y[j] * w[j]);
            else
                y[j] -= cos(y[j] + s);
    }
}
