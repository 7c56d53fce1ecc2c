// Neo-Hookean triangles: elastic energy and nodal forces, small matrices in structs.
// Check it:  build/retrograd check examples/fem.c
// check: n=6 m=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct {
    real m[2][2];
} mat2;
static mat2 matmul(mat2 a, mat2 b) {
    mat2 r = {{{0}}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                r.m[i][j] += a.m[i][k] * b.m[k][j];
    return r;
}
static real det(mat2 a) {
    return a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[1][0];
}
void fem(int n, int m, const real x[n][2], const int tri[m][3], const mat2 rest[m],
         const real mu[m], real lambda, real energy[1], real force[n][2]) {
    real e = 0;
#pragma omp parallel for reduction(+ : e)
    for (int t = 0; t < m; t++) {
        const int *v = tri[t];
        mat2 d;
        for (int k = 0; k < 2; k++) {
            d.m[k][0] = x[v[1]][k] - x[v[0]][k];
            d.m[k][1] = x[v[2]][k] - x[v[0]][k];
        }
        mat2 f = matmul(d, rest[t]);
        real j = det(f), logj = log(j * j + 0.1f) / 2, i1 = 0;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                i1 += f.m[a][b] * f.m[a][b];
        e += mu[t] / 2 * (i1 - 2) - mu[t] * logj + lambda / 2 * logj * logj;
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 2; c++) {
#pragma omp atomic
                force[v[k]][c] += mu[t] * f.m[c][k % 2] - lambda * logj;
            }
    }
    energy[0] += e;
}
