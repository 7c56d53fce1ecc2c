// run: n=2 b=1,2,3,4,5,6,7,8,9,10,11,12 y=zeros --grad y=1,2
// expect: y = 28 844
// expect: b.grad = 18 5 6 0 2 3 216 22 168 0 16 126 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y; } vec2;
typedef struct { vec2 pos, vel[2]; } body;

void nested(int n, const body b[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        body c = b[i];
        c.pos.x *= c.vel[1].y;
        y[i] = c.pos.x * c.vel[0].x + c.pos.y * c.vel[1].x;
    }
}
