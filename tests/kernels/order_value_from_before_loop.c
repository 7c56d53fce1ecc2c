// Values read before a loop and used in it, where the loop then changes the memory they came from:
// translators to Metal have printed such reads in the loop.
// run: n=1 m=3 j=0,0,0 x=2 c=5 count=4 y=zeros w=zeros kept=zeros --grad y=ones --grad w=ones
// expect: y = 2 2 2
// expect: w = 5 5 5
// expect: kept = 4 4 4
// expect: x.grad = 3
// expect: c.grad = 3
// run: n=2 m=2 j=1,0 x=2,3 c=5,6 count=4,5 y=zeros w=zeros kept=zeros --grad y=ones --grad w=ones
// expect: y = 2 2 3 3
// expect: w = 5 5 9 9
// expect: kept = 4 4 9 9
// expect: x.grad = 2 2
// expect: c.grad = 2 0
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void order(int n, int m, const int j[m], const real x[n], real c[n], int count[n], real y[n][m],
           real w[n][m], int kept[n][m])
{
    for (int i = 0; i < n; i++) {
        real t[4];
        for (int k = 0; k < 4; k++)
            t[k] = x[i] + k;
        real v = t[j[0] & 2], before = c[i];
        int was = count[i];
        for (int k = 0; k < m; k++) {
            y[i][k] = v;
            w[i][k] = before;
            kept[i][k] = was;
            t[j[k] & 2] = 7;
            c[j[k]] = 9;
            count[j[k]] = 9;
        }
        w[i][0] += 0 * t[2];
    }
}
