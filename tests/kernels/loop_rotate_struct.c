// A struct of three floats rotated in a loop of data-dependent length.
// run: n=2 c=3,5 a=0.1 v=1,2,3,4,5,6 w=zeros --grad w=1,0,0,0,1,2
// expect: w = 0.36429607580292694 2.206193184912552 3.993000000000001 1.113202554540476 6.305614963868678 9.663060000000003
// expect: v.grad = 0.9553364891 -0.2955202067 0 0.4794255386 0.8775825619 3.22102 tol 1e-07
// expect: a.grad = 86.79343322 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;

static vec3 rotate(vec3 v, real a)
{
    vec3 r;
    r.x = cos(a) * v.x - sin(a) * v.y;
    r.y = sin(a) * v.x + cos(a) * v.y;
    r.z = v.z * (1 + a);
    return r;
}

void spin(int n, const int c[n], real a, const vec3 v[n], vec3 w[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        vec3 p = v[i];
        for (int j = 0; j < c[i]; j++)
            p = rotate(p, a);
        w[i] = p;
    }
}
