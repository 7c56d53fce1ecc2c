// A bilateral filter with clamped borders.
// check: w=5 h=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
void bilateral(int w, int h, const real img[h][w], real sigma, real out[h][w])
{
    #pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            real num = 0, den = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    real v = img[clamp(y + dy, 0, h - 1)][clamp(x + dx, 0, w - 1)];
                    real d = v - img[y][x];
                    real g = exp(-d * d / (0.1f + sigma * sigma) - 0.5f * (dx * dx + dy * dy));
                    num += g * v;
                    den += g;
                }
            out[y][x] = num / den;
        }
}
