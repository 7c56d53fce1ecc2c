// Rigid bodies with quaternions, stepped in place; structs by value.
// check: n=3 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;
typedef struct { real w, x, y, z; } quat;
typedef struct { vec3 p; quat q; vec3 v, w; } body;
typedef struct { vec3 gravity; real dt; vec3 inertia; real mass; } world;

static vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vec3 scale(vec3 a, real s) { return (vec3){a.x * s, a.y * s, a.z * s}; }
static vec3 cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static quat mul(quat a, quat b)
{
    return (quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static quat normalise(quat q)
{
    real n = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q.w /= n; q.x /= n; q.y /= n; q.z /= n;
    return q;
}
static vec3 rotate(quat q, vec3 v)
{
    quat c = {q.w, -q.x, -q.y, -q.z}, p = {0, v.x, v.y, v.z};
    quat r = mul(mul(q, p), c);
    return (vec3){r.x, r.y, r.z};
}

void simulate(int n, int steps, world g, body b[n], const vec3 tip[n], vec3 out[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            body s = b[i];
            vec3 L = {g.inertia.x * s.w.x, g.inertia.y * s.w.y, g.inertia.z * s.w.z};
            vec3 tau = scale(cross(s.w, L), -1);
            s.w = add(s.w, scale((vec3){tau.x / (1 + g.inertia.x * g.inertia.x), tau.y / (1 + g.inertia.y * g.inertia.y), tau.z}, g.dt));
            s.v = add(s.v, scale(g.gravity, g.dt));
            s.p = add(s.p, scale(s.v, g.dt));
            quat dq = {0, s.w.x, s.w.y, s.w.z};
            dq = mul(dq, s.q);
            s.q.w += g.dt / 2 * dq.w;
            s.q.x += g.dt / 2 * dq.x;
            s.q.y += g.dt / 2 * dq.y;
            s.q.z += g.dt / 2 * dq.z;
            s.q = normalise(s.q);
            b[i] = s;
        }
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = add(b[i].p, rotate(b[i].q, tip[i]));
}
