// Runge-Kutta steps of the Lorenz system, with all states kept.
// check: n=3 steps=4
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } p3;
typedef struct { real sigma, rho, beta; } lorenz;
static p3 f(p3 s, lorenz l) { return (p3){l.sigma * (s.y - s.x), s.x * (l.rho - s.z) - s.y, s.x * s.y - l.beta * s.z}; }
static p3 axpy(p3 a, real h, p3 b) { a.x += h * b.x; a.y += h * b.y; a.z += h * b.z; return a; }
void rk4(int n, int steps, real h, lorenz l, p3 s[n], real path[steps][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        p3 u = s[i];
        for (int t = 0; t < steps; t++) {
            p3 k1 = f(u, l), k2 = f(axpy(u, h / 2, k1), l), k3 = f(axpy(u, h / 2, k2), l), k4 = f(axpy(u, h, k3), l);
            u.x += h / 6 * (k1.x + 2 * k2.x + 2 * k3.x + k4.x);
            u.y += h / 6 * (k1.y + 2 * k2.y + 2 * k3.y + k4.y);
            u.z += h / 6 * (k1.z + 2 * k2.z + 2 * k3.z + k4.z);
            path[t][i] = u.z;
        }
        s[i] = u;
    }
}
