/* The force's derivative is symmetric in the two bodies, so body i gathers, over all j,
 *     J(d) q  with  q = m_i f_b_j - m_j f_b_i,  J(d) q = q / r^3 - 3 (d . q) d / r^5
 * and nothing is scattered. */
#include "hand.h"

#include <math.h>
#include <string.h>

void forces_adjoint(int n, float eps, const float *restrict m, const float *restrict p,
                    float *restrict p_b, float *restrict f_b) {
    const float *px = p, *py = p + n, *pz = p + 2 * (size_t)n;
    const float *gx = f_b, *gy = f_b + n, *gz = f_b + 2 * (size_t)n;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        float x = px[i], y = py[i], z = pz[i], mi = m[i];
        float ax = gx[i], ay = gy[i], az = gz[i];
        float sx = 0.0f, sy = 0.0f, sz = 0.0f;
#pragma omp simd reduction(+ : sx, sy, sz)
        for (int j = 0; j < n; j++) {
            float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + eps);
            float inv2 = inv * inv, inv3 = inv2 * inv;
            float qx = mi * gx[j] - m[j] * ax;
            float qy = mi * gy[j] - m[j] * ay;
            float qz = mi * gz[j] - m[j] * az;
            float r = zmulf(dx * qx + dy * qy + dz * qz, -3.0f * inv3 * inv2);
            sx += inv3 * qx + r * dx;
            sy += inv3 * qy + r * dy;
            sz += inv3 * qz + r * dz;
        }
        p_b[i] += sx;
        p_b[n + i] += sy;
        p_b[2 * (size_t)n + (size_t)i] += sz;
    }
    memset(f_b, 0, 3 * (size_t)n * sizeof *f_b);
}
