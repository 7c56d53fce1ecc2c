// SPH density and forces over neighbour lists in CSR form.
// check: n=4 m=7 start=0,2,4,5,7 list=1,2,0,3,1,2,0
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#define PI 3.14159265358979323846f
void sph(int n, int m, const int start[n + 1], const int list[m], const real x[n][3], const real mass[n], real h,
         real density[n], real force[n][3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real rho = 0;
        for (int k = start[i]; k < start[i + 1]; k++) {
            int j = list[k];
            real r2 = 0;
            for (int c = 0; c < 3; c++) {
                real d = x[i][c] - x[j][c];
                r2 += d * d;
            }
            real q = 16 + h * h - r2;
            if (q > 0) rho += mass[j] * 315 / (64 * PI) * q * q * q * 0.001f;
        }
        density[i] = rho;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real f[3] = {0};
        for (int k = start[i]; k < start[i + 1]; k++) {
            int j = list[k];
            real p = (density[i] + density[j]) / (2 * (1 + density[j] * density[j]));
            for (int c = 0; c < 3; c++) f[c] += mass[j] * p * (x[i][c] - x[j][c]);
        }
        for (int c = 0; c < 3; c++) force[i][c] = f[c];
    }
}
