// Sphere tracing: depth of a sphere over a floor, and its gradient in the sphere and the rays. The
// loop ends by break; how often it ran is recorded. Check it:  build/retrograd check
// examples/ray_march.c check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct {
    real x, y, z;
} vec3;
static real sdf(vec3 p, vec3 c, real r) {
    real x = p.x - c.x, y = p.y - c.y, z = p.z - c.z;
    return fmin(sqrt(x * x + y * y + z * z) - r, p.y + 1);
}
void march(int n, const vec3 dir[n], vec3 centre, real radius, real depth[n], int steps[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real t = 0;
        int s;
        for (s = 0; s < 40; s++) {
            vec3 p = {t * dir[i].x, t * dir[i].y + 0.1f, t * dir[i].z - 3};
            real d = sdf(p, centre, radius);
            if (d < 1e-3f)
                break;
            if (t > 8)
                break;
            t += d;
        }
        depth[i] = t;
        steps[i] = s;
    }
}
