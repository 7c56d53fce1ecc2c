// break, continue and return in nested loops that write parameters.
// check: n=4 m=5
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void search(int n, int m, const real x[n][m], real y[n], real w[n])
{
    for (int i = 0; i < n; i++) {
        real best = 0.2f;
        for (int j = 0; j < m; j++) {
            if (x[i][j] < -0.8f) continue;
            real v = x[i][j] * x[i][j] + w[i];
            if (v > 1.4f) { best += v; break; }
            for (int k = 0; k < j; k++) {
                best = best * 0.9f + v * x[i][k];
                if (best > 1.2f) break;
                if (k == 2) continue;
                w[i] += 0.05f * best;
            }
        }
        y[i] = best * w[i];
        if (best > 1.6f) return;
    }
}
