// An array whose length is known inside the branch and the loop that it lives in.
// check: n=2 perm=2,3
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inside(int n, const real x[n], const int perm[n], real w[n])
{
    for (int i = 0; i < n; i++) {
        if (perm[i] > 1) {
            for (int j = 0; j < 2; j++) {
                real v = x[i];
                int c = 0;
                while (c < 3) {
                    c++;
                    real t[2][perm[i]];
                    t[0][1] = v;
                    t[1][0] = 1;
                    t[1][1] = v * v;
                    t[0][0] = 2;
                    v = t[0][c % 2] * v * t[c % 2][1];
                }
                w[i] = w[i] * w[i] * v;
            }
        }
    }
}
