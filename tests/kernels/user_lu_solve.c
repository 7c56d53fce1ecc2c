// Gaussian elimination with pivoting, in place.
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void solve(int n, real A[n][n], real b[n], real x[n])
{
    for (int i = 0; i < n; i++) A[i][i] += 4;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
        if (p != k) {
            for (int j = 0; j < n; j++) { real t = A[k][j]; A[k][j] = A[p][j]; A[p][j] = t; }
            real t = b[k]; b[k] = b[p]; b[p] = t;
        }
        for (int i = k + 1; i < n; i++) {
            real l = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= l * A[k][j];
            b[i] -= l * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        real s = b[i];
        for (int j = i + 1; j < n; j++) s -= A[i][j] * x[j];
        x[i] = s / A[i][i];
    }
}
