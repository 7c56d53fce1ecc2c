// Quaternion integration with normalisation.
// run: n=1 steps=4 w=0.3,-0.2,0.5 q=1,0,0,0 --grad q=1,2,3,4
// expect: q = 0.9924144192233944 0.059829271276787326 -0.039886180851191555 0.09971545212797887
// expect: q.grad = 0 1.466308487 2.977243258 4.1292024 tol 1e-07
// expect: w.grad = 0.3851129994 0.6074585855 0.7748089352 tol 1e-07
// check: n=2 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;
typedef struct { real s; vec3 v; } quat;

static quat qmul(quat a, quat b)
{
    quat r;
    r.s = a.s * b.s - a.v.x * b.v.x - a.v.y * b.v.y - a.v.z * b.v.z;
    r.v.x = a.s * b.v.x + a.v.x * b.s + a.v.y * b.v.z - a.v.z * b.v.y;
    r.v.y = a.s * b.v.y - a.v.x * b.v.z + a.v.y * b.s + a.v.z * b.v.x;
    r.v.z = a.s * b.v.z + a.v.x * b.v.y - a.v.y * b.v.x + a.v.z * b.s;
    return r;
}

void spin(int n, int steps, const vec3 w[n], quat q[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int t = 0; t < steps; t++) {
            quat d = {1, {0.05f * w[i].x, 0.05f * w[i].y, 0.05f * w[i].z}};
            quat r = qmul(q[i], d);
            real k = 1 / sqrt(r.s * r.s + r.v.x * r.v.x + r.v.y * r.v.y + r.v.z * r.v.z);
            q[i].s = r.s * k;
            q[i].v.x = r.v.x * k;
            q[i].v.y = r.v.y * k;
            q[i].v.z = r.v.z * k;
        }
}
