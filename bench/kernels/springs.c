/* Energy of m springs between n points: every pair of a spring's ends is scattered to. */
#include <math.h>

typedef struct {
    float x, y, z;
} vec3;

static float dist(vec3 a, vec3 b)
{
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

void energy(int n, int m, const vec3 pos[n], const int ends[m][2], const float rest[m], float k,
            float e[1])
{
    #pragma omp parallel for
    for (int s = 0; s < m; s++) {
        float d = dist(pos[ends[s][0]], pos[ends[s][1]]) - rest[s];
        #pragma omp atomic
        e[0] += 0.5f * k * d * d;
    }
}
