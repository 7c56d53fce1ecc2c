// A small dense solve by Gauss elimination.
// run: n=1 a=4,1,0.5,1,3,0.2,0.3,0.1,5 b=1,2,3 x=zeros --grad x=1,1,1
// expect: x = 0.0216196408941004 0.620373763283254 0.5862953462806888
// expect: a.grad = -0.003660049136 -0.1050247998 -0.0992555698 -0.005862416366 -0.1682215408 -0.1589807828 -0.003723426611 -0.106843411 -0.100974281 tol 1e-07
// expect: b.grad = 0.1692927812 0.2711615977 0.172224258 tol 1e-07
// check: n=1 a=4,1,0.5,1,3,0.2,0.3,0.1,5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void solve(int n, const real a[n][3][3], const real b[n][3], real x[n][3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real m[3][4];
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++)
                m[r][c] = a[i][r][c];
            m[r][3] = b[i][r];
        }
        for (int p = 0; p < 3; p++)
            for (int r = p + 1; r < 3; r++) {
                real f = m[r][p] / m[p][p];
                for (int c = p; c < 4; c++)
                    m[r][c] -= f * m[p][c];
            }
        for (int r = 2; r >= 0; r--) {
            real s = m[r][3];
            for (int c = r + 1; c < 3; c++)
                s -= m[r][c] * x[i][c];
            x[i][r] = s / m[r][r];
        }
    }
}
