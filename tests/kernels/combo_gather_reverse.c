// gcc 12 once found this kernel's body free of effects, and dropped it.
// run: n=3 m=3 perm=2,0,1 s=1,-2,3,4,5,6 w=1,2,3,4,5,6,7,8,8.5 y=zeros --grad y=1,2,3
// expect: y = 3.4879051352734205 -1.1038502361480678 0
// expect: s.grad = 2.617464918 0 0 0 4.39436895 0 tol 1e-07
// expect: w.grad = -8.196436555 0 0 8.196436555 0 0 0 0 0 tol 1e-07
// check: n=3 m=3 perm=2,0,1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real a, b; } pair;

static real bound(real v) { return v / (1.5f + sin(v)); }

void reverse(int n, int m, const int perm[n], const pair s[n], const real w[n][m], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 0.5f * bound(s[perm[i]].a * (w[perm[n - 1 - i]][0] - w[i][3u % m]));
}
