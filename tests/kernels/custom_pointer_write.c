// Adjoints by pragma of functions that write through pointers: they find the arrays as they were when
// the function was called, and clear the gradients of what it overwrote. In place, in time loops that
// overwrite what was read, under branches, in loops of unknown length, and with an array counting.
// check: steps --second-order
// check: serial --second-order
// check: until --second-order
// check: inside --second-order
// check: shared n=9 --second-order
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

/* v / |v|, and the old length. */
static real normalise(real *v, int n)
{
    real s = 0;
    for (int i = 0; i < n; i++)
        s += v[i] * v[i];
    s = sqrt(s + (real)0.25);
    for (int i = 0; i < n; i++)
        v[i] /= s;
    return s;
}

static void normalise_adjoint(const real *v, real *v_b, int n, real r_b)
{
    real s = 0, g = r_b;
    for (int i = 0; i < n; i++)
        s += v[i] * v[i];
    s = sqrt(s + (real)0.25);
    for (int i = 0; i < n; i++)
        g -= v_b[i] * v[i] / (s * s);
    for (int i = 0; i < n; i++)
        v_b[i] = v_b[i] / s + g * v[i] / s;
}
#pragma retrograd adjoint(normalise) = normalise_adjoint

/* y = a x + y * y */
static void blend(const real *x, real a, real *y, int n, int *calls)
{
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i] * y[i];
    *calls += 1;
}

static void blend_adjoint(const real *x, real *x_b, real a, real *a_b, const real *y, real *y_b,
                          int n, const int *calls)
{
    for (int i = 0; i < n; i++) {
        x_b[i] += a * y_b[i] * (real)(*calls >= 0);
        *a_b += x[i] * y_b[i];
        y_b[i] *= 2 * y[i];
    }
}
#pragma retrograd adjoint(blend) = blend_adjoint

/* Parallel loops in a time loop. */
void steps(int n, int t, const real x[n][3], real a[n], real y[n][3], real e[n])
{
    for (int s = 0; s < t; s++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int calls = 0;
            blend(x[i], a[i], y[i], 3, &calls);
            a[i] = a[i] * (real)0.5 + normalise(y[i], 3);
            if (y[i][0] > y[i][1])
                blend(y[i], a[i], &a[i], 1, &calls);
            e[i] += a[i] * (real)calls;
        }
    }
}

/* Serial loops, the same element again and again. */
void serial(int n, const real x[n], real a, real y[n], real e[1])
{
    int calls = 0;
    for (int i = 0; i + 1 < n; i++) {
        for (int k = 0; k < 2; k++) {
            e[0] += y[i] * y[i + 1];
            blend(&x[i], a, y + i, 2, &calls);
        }
        e[0] += normalise(&y[i], 2) * y[i];
    }
    e[0] *= (real)calls;
}

/* A loop of unknown length, and what it leaves overwritten afterwards. */
void until(int n, const real x[n], real y[n], real e[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v[2] = {x[i] + 2, y[i] + 1}, u[2] = {x[i], 1}, s = 9;
        int calls = 0;
        while (s > (real)1.5 && calls < 5) {
            s = normalise(v, 2);
            blend(u, s, v, 2, &calls);
            u[0] *= 2;
            if (calls == 3)
                v[1] = 3 * v[0] * v[1];
        }
        y[i] = v[0] * v[1];
        v[0] = s;
        v[1] = y[i] * x[i];
        e[i] = normalise(v, 1) + v[1] * v[0];
    }
}

/* Called where there is no parallel loop: one inside the function. */
static void squares(const real *x, real *y, int n)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] += x[i] * x[i] * y[i];
}

static void squares_adjoint(const real *x, real *x_b, const real *y, real *y_b, int n)
{
    for (int i = 0; i < n; i++) {
        x_b[i] += 2 * x[i] * y[i] * y_b[i];
        y_b[i] += x[i] * x[i] * y_b[i];
    }
}
#pragma retrograd adjoint(squares) = squares_adjoint

void inside(int n, int t, const real x[n], real y[n], real z[n])
{
    real w[n];
    for (int i = 0; i < n; i++)
        w[i] = x[i] * y[i];
    for (int s = 0; s < t; s++) {
        squares(w, y, n);
        squares(x, w, n);
        squares(y, z, n);
    }
}
/* Returns early; shared by all iterations; a checkpoint. */
static real early(const real *k, const real *x, int n, real *out)
{
    if (n > 3) {
        *out = *k;
        return 0;
    }
    real s = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            continue;
        s += *k * x[i];
    }
    *out = s * *out;
    return s * s;
}

static void early_adjoint(const real *k, real *k_b, const real *x, real *x_b, int n,
                          const real *out, real *out_b, real r_b)
{
    if (n > 3) {
        *k_b += *out_b;
        *out_b = 0;
        return;
    }
    real s = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            continue;
        s += *k * x[i];
    }
    real g = 2 * s * r_b + *out * *out_b;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            continue;
        *k_b += g * x[i];
        x_b[i] += g * *k;
    }
    *out_b *= s;
}
#pragma retrograd adjoint(early) = early_adjoint

void shared(int n, const real x[n], const int idx[n], real a, real y[n], real z[n])
{
    real k[3] = {a * 2, a, 1};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real o[2] = {y[i], x[i]};
        z[i] = early(k, &x[((unsigned)idx[i]) % (unsigned)(n - 2)], 3, &o[i & 1]);
        y[i] = o[0] + o[1] * early(x, k, 1 + (i & 3), &z[i]);
    }
    k[0] *= k[1];
    #pragma retrograd checkpoint(3)
    for (int t = 0; t < n; t++) {
        real w[1] = {y[t]};
        y[t] = early(w, y, 3, &k[1]);
        if (t % 3 == 1)
            early(&z[t], z, 1, &y[t]);
        z[t] += k[1];
    }
    y[0] = k[2] * k[1] + k[0];
}
