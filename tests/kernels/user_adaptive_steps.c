// While loops of unknown length: the AGM, adaptive steps.
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real agm(real a, real g)
{
    while (fabs(a - g) > 1e-4f * a) {
        real t = (a + g) / 2;
        g = sqrt(a * g);
        a = t;
    }
    return a;
}
void pendulum(int n, const real amp[n], real period[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) period[i] = 6.2831853f / agm(1.0f, fabs(cos(amp[i] / 2)) + 0.05f);
}
void adaptive(int n, const real k[n], real y[n], real tol)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real t = 0, h = 0.3f, u = 1 + k[i];
        int guard = 0;
        while (t < 1 && guard++ < 50) {
            if (t + h > 1) h = 1 - t;
            real e = u + h * (-k[i] * u), m = u + h / 2 * (-k[i] * u), f = m + h / 2 * (-k[i] * m);
            real err = fabs(f - e);
            if (err > 1e-2f + tol * tol) { h /= 2; continue; }
            t += h;
            u = f;
            if (err < 2e-3f) h *= 1.5f;
        }
        y[i] = u;
    }
}
