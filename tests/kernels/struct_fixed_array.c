// An array in a struct, indexed by a variable.
// run: n=1 m=1,2,3,4 v=5,6 w=zeros --grad w=1,10
// expect: w = 17 39
// expect: m.grad = 5 6 50 60
// expect: v.grad = 31 42
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real a[2][2]; } mat2;
typedef struct { real a[2]; } vec2;

void apply(int n, const mat2 m[n], const vec2 v[n], vec2 w[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 2; r++) {
            real s = 0;
            for (int c = 0; c < 2; c++)
                s += m[i].a[r][c] * v[i].a[c];
            w[i].a[r] = s;
        }
}
