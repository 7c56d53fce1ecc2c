// &m[0][0]: a pointer over all elements, row after row, of parameters, local arrays, blocks of an array
// of three axes, arrays in structs, and arrays of structs; walked, compared, and handed to functions.
// run sums: n=2 m=3 x=1,2,3,4,5,6 y=zeros e=0 --grad y=1,1,1,1,1,1 --grad e=1
// expect: y = 1 8 27 64 125 216
// expect: e = 21
// check: sums
// check: blocks
// check: locals
// check: inside
// check: own
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real m[2][3], s; } box;
typedef struct { real a, b; } pair;

static void cubes(const real *x, real *y, int count)
{
    for (int i = 0; i < count; i++)
        y[i] = x[i] * x[i] * x[i];
}

static real total(const real *x, int count)
{
    real s = 0;
    for (const real *p = x; p < x + count; p++)
        s += *p;
    return s;
}

void sums(int n, int m, const real x[n][m], real y[n][m], real e[1])
{
    const real *p = &x[0][0];
    real *q = &y[0][0];
    #pragma omp parallel for
    for (int i = 0; i < n * m; i++)
        q[i] = p[i] * p[i] * p[i];
    e[0] += total(&x[0][0], n * m);
    e[0] += total(&x[n - 1][0], m) - total(x[n - 1], m);
}

void blocks(int n, const real x[n][2][3], real y[n][2][3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        cubes(&x[i][0][0], &y[i][0][0], 6);
        real *q = &y[i][0][0];
        q[4] += q[1] * q[5];
        q += 2;
        #pragma omp atomic
        q[1] += x[i][0][0];
    }
    if (n > 1)
        y[0][0][0] = total(&x[0][0][0] + 3, 6 * n - 3);
}

void locals(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real w[2][3], (*r)[3] = w;
        for (int k = 0; k < 6; k++)
            (&w[0][0])[k] = x[i] * (real)(k + 1);
        cubes(&w[0][0], &r[0][0], 4);
        real *last = &w[0][0] + 5;
        *last *= w[1][1];
        y[i] = total(&w[0][0], 6) + total(&w[1][0], 3) * *w[0];
    }
}

void inside(int n, const box x[n], pair y[n][2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = total(&x[i].m[0][0], 6) * x[i].s;
        y[i][1].a = s * total(x[i].m[1], 3);
    }
    pair *p = &y[0][0];
    for (int k = 0; k < 2 * n; k++) {
        p->b += p->a * (real)k;
        p[0].a *= p->b;
        p++;
    }
}

/* With an adjoint of its own. */
static real twice(const real *x, real *y, int count)
{
    real s = 0;
    for (int i = 0; i < count; i++) {
        s += x[i] * y[i];
        y[i] *= x[i];
    }
    return s;
}

static void twice_adjoint(const real *x, real *x_b, const real *y, real *y_b, int count, real r_b)
{
    for (int i = 0; i < count; i++) {
        x_b[i] += y[i] * (r_b + y_b[i]);
        y_b[i] = x[i] * (r_b + y_b[i]);
    }
}
#pragma retrograd adjoint(twice) = twice_adjoint

void own(int n, const real x[n][3], real y[n][3], real e[n])
{
    for (int t = 0; t < 2; t++)
        e[0] += twice(&x[0][0], &y[0][0], 3 * n);
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real w[2][2] = {{x[i][0], 1}, {2, y[i][1]}};
        e[i] += twice(&w[0][0], y[i], 3) * w[1][0];
    }
}
