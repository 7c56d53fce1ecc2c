// Particles as an array of structs and as arrays.
// check: n=5
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real pos[3], vel[3]; int kind; real charge; } particle;
typedef struct field { real e[3], b[3]; } field;
void push(int n, particle p[n], field f, real dt)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        particle *q = &p[i];
        real a[3];
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3, e = (c + 2) % 3;
            a[c] = q->charge * (f.e[c] + q->vel[d] * f.b[e] - q->vel[e] * f.b[d]);
        }
        for (int c = 0; c < 3; c++) {
            q->vel[c] += dt * a[c];
            q->pos[c] += dt * q->vel[c];
        }
        if (q->kind == 1) q->charge *= 0.5f;
    }
}
void soa(int n, real *restrict x, real *restrict v, const real *restrict m)
{
    #pragma omp parallel for simd
    for (int i = 0; i < n; ++i) {
        v[i] -= x[i] / (1 + m[i] * m[i]);
        x[i] += 0.1f * v[i];
    }
}
