// run: n=2 m=3 k=2 a=1,2,3,4 b=1,2,3,4,5,6 c=zeros --grad c=1,2,3,4,5,6
// expect: c = 9 12 15 19 26 33
// expect: a.grad = 14 32 32 77
// expect: b.grad = 13 17 21 18 24 30
// check: n=2 m=3 k=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void matmul(int n, int k, int m, const real a[n][k], const real b[k][m], real c[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real s = 0;
            for (int l = 0; l < k; l++)
                s += a[i][l] * b[l][j];
            c[i][j] = s;
        }
}
