// All kinds of reductions in one loop.
// check: n=6
#include <stdbool.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void stats(int n, const real x[n], real mean[1], real var[1], real lo[1], real hi[1], real prod[1], int count[1], bool any[1])
{
    real s = 0, s2 = 0, a = 1e9f, b = -1e9f, p = 1;
    int c = 0;
    bool f = false;
    #pragma omp parallel for reduction(+ : s, s2, c) reduction(min : a) reduction(max : b) reduction(* : p) reduction(|| : f)
    for (int i = 0; i < n; i++) {
        s += x[i];
        s2 += x[i] * x[i];
        if (x[i] < a) a = x[i];
        b = x[i] > b ? x[i] : b;
        p *= 1 + x[i] / 2;
        if (x[i] > 0) c++;
        f = f || x[i] > 0.5f;
    }
    mean[0] = s / n;
    var[0] = s2 / n - mean[0] * mean[0];
    lo[0] = a; hi[0] = b; prod[0] = p; count[0] = c; any[0] = f;
}
