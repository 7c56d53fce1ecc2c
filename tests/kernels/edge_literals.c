// run: n=6 x=2,-0.0,0,inf,-inf,nan y=zeros
// expect: y = 0 inf 0 0 1 0.5 0.5 0.5 -0.5 inf 1 4 6 1.5 0 0 7 2 0 -inf -inf -0 -inf nan 0 nan inf inf -inf inf nan 1 2 0 0 -0 -0 5 1 -0 inf inf 0 inf nan 0 nan inf inf inf inf nan 1 2 0 0 0 0 5 1 0 -inf -inf nan nan 0 nan nan 0 0 0 -0 inf nan nan nan nan nan nan 3 inf nan nan nan nan nan -0 nan nan -0 -0 -0 0 -inf nan nan nan nan nan nan 1 -inf nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan 2 1 nan nan nan
// run: n=3 x=2,0.5,-3 y=zeros --grad y=1,0,0,1,1,1,1,1,1,0,1,1,1,1,1,1,0,1,1,0,0,1,0,0,1,1,1,1,1,1,0,1,1,1,1,1,1,0,1,1,0,0,1,0,0,1,1,1,1,1,1,0,1,1,1,1,1,1,0,1,1,0,0
// expect: x.grad = 5.25 -3.25 5.527777778 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

/* Arithmetic with literals, and with what unrolled loops make literals of: a compiler may forget
 * NaN, infinity and -0 there. Reciprocals tell 0 from -0. */
void forms(int n, const real x[n], real y[n][21])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a = x[i], s = 0, p = 0, q = 0, c = (real)0.5, z[2] = {0};
        y[i][0] = a * (real)0;
        y[i][1] = 1 / ((real)0 * a);
        y[i][2] = (real)0 / a;
        y[i][3] = a - a;
        y[i][4] = a / a;
        y[i][5] = 1 / (a + (real)0);
        y[i][6] = 1 / ((real)0 + a);
        y[i][7] = 1 / (a - (real)0);
        y[i][8] = 1 / ((real)0 - a);
        y[i][9] = a / (real)0;
        y[i][10] = fma(a, (real)0, (real)1);
        for (int k = 0; k < 3; k++) {
            s = s * a + k;
            p += k * a;
            q += c * a;
            c -= (real)0.25;
        }
        y[i][11] = s;
        y[i][12] = p;
        y[i][13] = q;
        y[i][14] = (i < n ? 0 : a) * a;
        y[i][15] = (real)(a != a) * a;
        y[i][16] = (a == a ? 1 : 0) + (!(a < 1) ? 2 : 0) + (a * 0 == 0 ? 4 : 0);
        y[i][17] = fmin(a, (real)0) + fmax(a, (real)1);
        z[1] = a;
        y[i][18] = z[0] * z[1];
        y[i][19] = 1 / (-(a * (real)0) + (real)-0.0);
        y[i][20] = 1 / (a * (real)-0.0);
    }
}
