// A convolution with max pooling.
// check: cin=2 cout=2 h=5 w=6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#define K 3
void conv(int cin, int cout, int h, int w, const real x[cin][h][w], const real k[cout][cin][K][K], const real bias[cout],
          real y[cout][(h - K + 1) / 2][(w - K + 1) / 2])
{
    int oh = (h - K + 1) / 2, ow = (w - K + 1) / 2;
    #pragma omp parallel for collapse(3)
    for (int c = 0; c < cout; c++)
        for (int i = 0; i < oh; i++)
            for (int j = 0; j < ow; j++) {
                real best = -INFINITY;
                for (int a = 0; a < 2; a++)
                    for (int b = 0; b < 2; b++) {
                        real s = bias[c];
                        for (int q = 0; q < cin; q++)
                            for (int u = 0; u < K; u++)
                                for (int v = 0; v < K; v++)
                                    s += k[c][q][u][v] * x[q][2 * i + a + u][2 * j + b + v];
                        if (s > best) best = s;
                    }
                y[c][i][j] = best;
            }
}
