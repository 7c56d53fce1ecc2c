// |v| at the origin has gradient 0.
// run: n=2 v=0,0,0,3,4,0 y=zeros --grad y=1,1
// edge: y = 0 5
// edge: v.grad = 0 0 0 0.6 0.8 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;

void norm(int n, const vec3 v[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sqrt(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
}
