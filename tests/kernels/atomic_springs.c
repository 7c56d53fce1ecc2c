// run: n=3 m=2 pos=0,0,0,3,4,0,3,4,2 ends=0,1,1,2 rest=4,1 k=2 e=0 --grad e=1
// expect: e = 2
// expect: pos.grad = -1.2 -1.6 0 1.2 1.6 -2 0 0 2
// expect: rest.grad = -2 -2
// expect: k.grad = 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;

static real dist(vec3 a, vec3 b)
{
    real x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

void energy(int n, int m, const vec3 pos[n], const int ends[m][2], const real rest[m], real k,
            real e[1])
{
    #pragma omp parallel for
    for (int s = 0; s < m; s++) {
        real d = dist(pos[ends[s][0]], pos[ends[s][1]]) - rest[s];
        #pragma omp atomic
        e[0] += 0.5f * k * d * d;
    }
}
