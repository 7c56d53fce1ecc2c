// One field is written, the others keep their gradient.
// run: n=2 p=1,2,3,4 --grad p=1,2,3,4
// expect: p = 2 2 12 4
// expect: p.grad = 2 3 12 13
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y; } vec2;

void fields(int n, vec2 p[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i].x = p[i].x * p[i].y;
}
