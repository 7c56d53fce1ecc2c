// Springs between points: the example of README.md.
// Check it:  build/retrograd check examples/springs.c
// check:
#include <math.h>

typedef struct { float x, y, z; } vec3;

static float dist(vec3 a, vec3 b)
{
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrtf(x * x + y * y + z * z);
}

void energy(int n, int m, const vec3 pos[n], const int ends[m][2],
            const float rest[m], float k, float e[1])
{
    #pragma omp parallel for
    for (int s = 0; s < m; s++) {
        float d = dist(pos[ends[s][0]], pos[ends[s][1]]) - rest[s];
        #pragma omp atomic
        e[0] += 0.5f * k * d * d;
    }
}
