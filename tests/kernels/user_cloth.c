// A cloth of springs: a parallel loop for forces, one for the step, inside time.
// check: w=4 h=4 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;
#define AT(i, j) ((i) * w + (j))
static vec3 sub(vec3 a, vec3 b) { vec3 r = {a.x - b.x, a.y - b.y, a.z - b.z}; return r; }
static real length(vec3 a) { return sqrt(a.x * a.x + a.y * a.y + a.z * a.z); }
static void pull(vec3 a, vec3 b, real rest, real k, vec3 *f)
{
    vec3 d = sub(b, a);
    real l = length(d);
    if (l < 1e-6f) return;
    real s = k * (l - rest) / l;
    f->x += s * d.x; f->y += s * d.y; f->z += s * d.z;
}
void cloth(int w, int h, int steps, real k, real dt, vec3 x[h * w], vec3 v[h * w])
{
    vec3 f[h * w];
    for (int t = 0; t < steps; ++t) {
        #pragma omp parallel for collapse(2)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                vec3 s = {0, -1, 0};
                static const int di[4] = {-1, 1, 0, 0}, dj[4] = {0, 0, -1, 1};
                for (int q = 0; q < 4; q++) {
                    int a = i + di[q], b = j + dj[q];
                    if (a < 0 || b < 0 || a >= h || b >= w) continue;
                    pull(x[AT(i, j)], x[AT(a, b)], 0.5f, k, &s);
                }
                f[AT(i, j)] = s;
            }
        #pragma omp parallel for
        for (int p = 0; p < h * w; p++) {
            if (p == 0 || p == w - 1) continue;
            v[p].x += dt * f[p].x; v[p].y += dt * f[p].y; v[p].z += dt * f[p].z;
            x[p].x += dt * v[p].x; x[p].y += dt * v[p].y; x[p].z += dt * v[p].z;
        }
    }
}
