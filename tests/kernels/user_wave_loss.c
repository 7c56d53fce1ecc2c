// A wave in an array with a time axis.
// check: steps=4 n=5
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void wave(int steps, int n, real u[steps + 2][n], const real c[n], real dt, const real target[n], real loss[1])
{
    for (int t = 1; t <= steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int l = i == 0 ? n - 1 : i - 1, r = (i + 1) % n;
            real lap = u[t][l] - 2 * u[t][i] + u[t][r];
            u[t + 1][i] = 2 * u[t][i] - u[t - 1][i] + dt * dt * c[i] * c[i] * lap;
        }
    }
    real s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += (u[steps + 1][i] - target[i]) * (u[steps + 1][i] - target[i]);
    loss[0] = s;
}
