// Adjoints by pragma of functions with pointers: slices, overlapping windows whose gradients meet, a
// local array, an index array, structs; a helper that adds to a gradient.
// run windows: n=4 x=1,2,3,4 a=2 y=zeros --grad y=1,1
// expect: y = 28 58
// edge: x.grad = 4 16 24 16
// edge: a.grad = 43
// run windows: n=4 x=1,2,3,4 a=2 y=zeros --grad y=1,1 --dot x=1,0,0,0 --dot a=1
// edge: x.hvp = 6 8 12 8
// check: windows --second-order
// check: scatter --second-order
// check: locals --second-order
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;

static real norm(const real *x, int n, real a)
{
    real s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * x[i] * a;
    return s;
}

static void norm_adjoint(const real *x, real *x_b, int n, real a, real *a_b, real r_b)
{
    for (int i = 0; i < n; i++) {
        x_b[i] += 2 * x[i] * a * r_b;
        *a_b += x[i] * x[i] * r_b;
    }
}
#pragma retrograd adjoint(norm) = norm_adjoint

void windows(int n, const real x[n], real a, real y[n - 2])
{
    #pragma omp parallel for
    for (int i = 0; i < n - 2; i++)
        y[i] = norm(&x[i], 3, a);
}

static real pull(const vec3 *p, const int *ends, real k)
{
    vec3 a = p[ends[0]], b = p[ends[1]];
    real x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return k * (x * x + y * y + z * z);
}

static void add(vec3 *to, real s, vec3 v)
{
    to->x += s * v.x;
    to->y = to->y + s * v.y;
    to->z = s * v.z + to->z;
}

#pragma retrograd adjoint(pull) = pull_adjoint
static void pull_adjoint(const vec3 *p, vec3 *p_b, const int *ends, real k, real *k_b, real r_b)
{
    vec3 a = p[ends[0]], b = p[ends[1]], d = {a.x - b.x, a.y - b.y, a.z - b.z};
    vec3 *q = p_b + ends[1];
    add(&p_b[ends[0]], 2 * k * r_b, d);
    q->x -= 2 * k * r_b * d.x;
    #pragma omp atomic
    q->y -= 2 * k * r_b * d.y;
    q->z = q->z - 2 * k * r_b * d.z;
    *k_b += r_b * (d.x * d.x + d.y * d.y + d.z * d.z);
}

void scatter(int n, int m, const vec3 p[n], const int ends[m][2], const real k[m], real e[1], real f[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        real v = pull(p, ends[i], k[i] + 1);
        if (v > 1)
            v += pull(p, &ends[i][0], v);
        f[i] = v * v;
        #pragma omp atomic
        e[0] += v;
    }
}

void locals(int n, const real x[n], const real m[n][3], real y[n], real z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real w[3], t[2][3], one[1] = {x[i] * 3};
        for (int k = 0; k < 3; k++) {
            w[k] = x[i] * (real)(k + 1);
            t[0][k] = x[i] * x[i] + (real)k;
            t[1][k] = t[0][k] * w[k];
        }
        real s = norm(w, 3, x[i]) + norm(w + 1, 2, 2) * norm(t[1], 3, w[0]);
        s += norm(one, 1, 1) + norm(m[i], 3, *one);
        w[1] = s;
        y[i] = s + norm(w, 2, 1);
        z[i] = norm(&t[0][1], 2, s);
    }
}
