// run: n=2 p=1,2,3,4,5,6 q=zeros --grad q=1,2,3,4,5,6
// expect: q = -3 6 -3 3 -6 3
// expect: p.grad = 3 -6 3 -3 6 -3 tol 1e-07
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;

static vec3 cross(vec3 a, vec3 b)
{
    vec3 r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return r;
}

void turn(int n, const vec3 p[n], vec3 q[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        q[i] = cross(p[i], p[(i + 1) % n]);
}
