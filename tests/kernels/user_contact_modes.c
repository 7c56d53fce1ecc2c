// Penalty contact with Coulomb friction: branches, a switch with fall-through.
// check: n=5 steps=6 mu=0.4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real x, y; } vec2;
enum mode { FREE, STICK, SLIP };
static const real dt = 0.05f;

void bounce(int n, int steps, real mu, real stiffness, const vec2 x0[n], const vec2 v0[n], real loss[1], int modes[n])
{
    real total = 0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        vec2 x = x0[i], v = v0[i];
        enum mode m = FREE;
        for (int t = 0; t < steps; t++) {
            vec2 f = {0, -9.81f};
            real depth = -x.y;
            if (depth > 0) {
                real normal = (100 + stiffness * stiffness) * depth;
                f.y += normal;
                real tangential = -30 * v.x;
                if (fabs(tangential) > mu * normal) {
                    m = SLIP;
                    tangential = copysign(mu * normal, tangential);
                } else
                    m = STICK;
                f.x += tangential;
            } else
                m = FREE;
            switch (m) {
            case SLIP: v.x *= 0.99f; break;
            case STICK: v.x *= 0.9f; /* fall through */
            default: v.y *= 0.999f;
            }
            v.x += dt * f.x; v.y += dt * f.y;
            x.x += dt * v.x; x.y += dt * v.y;
        }
        modes[i] = m;
        total += x.x * x.x + x.y * x.y;
    }
    loss[0] = total;
}
