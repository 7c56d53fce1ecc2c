// Parallel loops inside ifs inside a loop, with break and continue.
// check: n=4 steps=5 mode=2
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void program(int n, int steps, int mode, real x[n], real a[n], real k)
{
    real s = 1;
    for (int t = 0; t < steps; t++) {
        if (t % 2 == mode % 2) {
            real acc = 0;
            #pragma omp parallel for reduction(+ : acc)
            for (int i = 0; i < n; i++) acc += x[i] * a[i];
            s = s * 0.5f + acc;
            if (s > 2) break;
        } else {
            #pragma omp parallel for firstprivate(s)
            for (int i = 0; i < n; i++) {
                real q = s * x[i];
                x[i] = x[i] + k * q;
            }
            if (s < -1) continue;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] += 0.1f * x[(i + 1) % n] * s;
    }
}
