// A path tracer with a PCG random number generator.
// check: w=3 h=2 spp=4
#include <math.h>
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y, z; } vec3;
typedef struct { vec3 centre; real radius; vec3 albedo; real emit; } sphere;
static uint32_t pcg(uint32_t *s)
{
    uint32_t x = *s;
    *s = x * 747796405u + 2891336453u;
    uint32_t w = ((x >> ((x >> 28u) + 4u)) ^ x) * 277803737u;
    return (w >> 22u) ^ w;
}
static real uniform(uint32_t *s) { return (real)(pcg(s) >> 8) / 16777216; }
static real dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec3 along(vec3 o, vec3 d, real t) { return (vec3){o.x + t * d.x, o.y + t * d.y, o.z + t * d.z}; }
void trace(int w, int h, int spp, int n, const sphere scene[n], vec3 image[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uint32_t seed = (uint32_t)(y * w + x) * 9781u + 1u;
            vec3 sum = {0, 0, 0};
            for (int s = 0; s < spp; s++) {
                vec3 o = {0, 0, -4}, d = {(x + uniform(&seed)) / w - 0.5f, (y + uniform(&seed)) / h - 0.5f, 1};
                vec3 weight = {1, 1, 1};
                for (int bounce = 0; bounce < 3; bounce++) {
                    int hit = -1;
                    real best = 1e9f;
                    for (int i = 0; i < n; i++) {
                        vec3 oc = {o.x - scene[i].centre.x, o.y - scene[i].centre.y, o.z - scene[i].centre.z};
                        real a = dot(d, d), b = dot(oc, d), c = dot(oc, oc) - scene[i].radius * scene[i].radius - 0.5f;
                        real disc = b * b - a * c;
                        if (disc <= 0) continue;
                        real t = (-b - sqrt(disc)) / a;
                        if (t > 1e-3f && t < best) { best = t; hit = i; }
                    }
                    if (hit < 0) {
                        real sky = 0.5f + 0.5f * d.y;
                        sum.x += weight.x * sky; sum.y += weight.y * sky; sum.z += weight.z;
                        break;
                    }
                    const sphere *sp = &scene[hit];
                    o = along(o, d, best);
                    vec3 nrm = {o.x - sp->centre.x, o.y - sp->centre.y, o.z - sp->centre.z};
                    sum.x += weight.x * sp->emit; sum.y += weight.y * sp->emit; sum.z += weight.z * sp->emit;
                    weight.x *= sp->albedo.x; weight.y *= sp->albedo.y; weight.z *= sp->albedo.z;
                    d = (vec3){nrm.x + uniform(&seed) - 0.5f, nrm.y + uniform(&seed) - 0.5f, nrm.z + uniform(&seed) - 0.5f};
                }
            }
            image[y][x] = (vec3){sum.x / spp, sum.y / spp, sum.z / spp};
        }
}
