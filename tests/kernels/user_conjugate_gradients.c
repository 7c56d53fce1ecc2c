// Conjugate gradients with local vectors.
// check: n=5
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real dot(int n, const real a[], const real b[])
{
    real s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
void cg(int n, const real A[n][n], const real b[n], real x[n])
{
    real r[n], p[n], q[n];
    for (int i = 0; i < n; i++) { x[i] = 0; r[i] = p[i] = b[i]; }
    real rr = dot(n, r, r);
    for (int it = 0; it < 3; it++) {
        if (rr < 1e-8f) break;
        for (int i = 0; i < n; i++) {
            q[i] = (3 + n) * p[i];
            for (int j = 0; j < n; j++) q[i] += (A[i][j] + A[j][i]) / 2 * p[j];
        }
        real alpha = rr / dot(n, p, q);
        for (int i = 0; i < n; i++) { x[i] += alpha * p[i]; r[i] -= alpha * q[i]; }
        real next = dot(n, r, r);
        for (int i = 0; i < n; i++) p[i] = r[i] + next / rr * p[i];
        rr = next;
    }
}
