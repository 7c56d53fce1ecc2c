/* Softened gravity: the force on each of n bodies from all of them. */
#include <math.h>

void forces(int n, float eps, const float m[n], const float p[3][n], float f[3][n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float x = p[0][i], y = p[1][i], z = p[2][i];
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = p[0][j] - x, dy = p[1][j] - y, dz = p[2][j] - z;
            float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + eps);
            float w = m[j] * inv * inv * inv;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        f[0][i] = fx;
        f[1][i] = fy;
        f[2][i] = fz;
    }
}
