/* The ends of springs are scattered to: the first thread adds in place, the others into copies of
 * their own, which are added up at the end. */
#include "hand.h"

#include <math.h>
#include <omp.h>
#include <string.h>

void energy_adjoint(int n, int m, const hand_vec3 *restrict pos, hand_vec3 *restrict pos_b,
                    const int (*restrict ends)[2], const float *restrict rest,
                    float *restrict rest_b, float k, float *k_b, const float *e_b) {
    int threads = omp_get_max_threads();
    size_t bytes = (size_t)n * sizeof(hand_vec3);
    hand_vec3 *copies = hand_scratch(0, (size_t)threads * bytes);
    float g = *e_b, k_sum = 0.0f;
#pragma omp parallel num_threads(threads) reduction(+ : k_sum)
    {
        int self = omp_get_thread_num();
        hand_vec3 *restrict to = self ? copies + (size_t)self * (size_t)n : pos_b;
        if (self)
            memset(to, 0, bytes);
#pragma omp for schedule(static)
        for (int s = 0; s < m; s++) {
            hand_vec3 a = pos[ends[s][0]], b = pos[ends[s][1]];
            float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
            float len = sqrtf(dx * dx + dy * dy + dz * dz);
            float d = len - rest[s];
            float d_b = g * k * d;
            k_sum += 0.5f * g * d * d;
            rest_b[s] -= d_b;
            float f = zmulf(d_b, len == 0.0f ? 0.0f : 1.0f / len);
            float fx = f * dx, fy = f * dy, fz = f * dz;
            hand_vec3 *p = &to[ends[s][0]], *q = &to[ends[s][1]];
            p->x += fx;
            p->y += fy;
            p->z += fz;
            q->x -= fx;
            q->y -= fy;
            q->z -= fz;
        }
        if (threads > 1) {
            float *all = (float *)pos_b;
            const float *rows = (const float *)copies;
            size_t count = (size_t)n * 3;
            for (int t = 1; t < threads; t++) {
#pragma omp for simd schedule(static)
                for (size_t i = 0; i < count; i++)
                    all[i] += rows[(size_t)t * count + i];
            }
        }
    }
    *k_b += k_sum;
}
