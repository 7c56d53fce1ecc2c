// All pairs, structs, inner reduction, softening.
// run: n=3 p=0,0,0,1,0.5,0,-1,0,0.7 m=1,2,3 a=zeros --grad a=1,2,3,4,5,6,7,8,9
// expect: a = -0.21891251680489643 0.7070403227077792 1.1430952135543182 -1.286616913579581 -0.49841430907184003 0.20285180680513065 0.9307154479880195 0.09659609847863367 -0.5162662757215265
// expect: p.grad = -4.971816922 -0.3085842442 3.048253903 2.438612342 1.356574311 0.1921753959 2.53320458 -1.047990067 -3.240429299 tol 1e-07
// expect: m.grad = -4.21473036 2.544254998 -0.009791260934 tol 1e-07
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;

void gravity(int n, const vec3 p[n], const real m[n], vec3 a[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        vec3 s = {0, 0, 0};
        for (int j = 0; j < n; j++) {
            if (i == j)
                continue;
            vec3 d = {p[j].x - p[i].x, p[j].y - p[i].y, p[j].z - p[i].z};
            real r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
            real f = m[j] / (r2 * sqrt(r2));
            s.x += f * d.x;
            s.y += f * d.y;
            s.z += f * d.z;
        }
        a[i] = s;
    }
}
