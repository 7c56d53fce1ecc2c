// A state machine, left by setting the loop variable.
// check: n=5 steps=8
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef enum { IDLE, ACCEL, CRUISE, BRAKE } phase;
void drive(int n, int steps, const real gain[n], real target, real pos[n], real vel[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        phase p = IDLE;
        real x = pos[i], v = vel[i];
        for (int t = 0; t < steps; t++) {
            real a = 0;
            switch (p) {
            case IDLE:
                if (x < target) p = ACCEL;
                a = -0.1f * v;
                break;
            case ACCEL:
                a = 1 + gain[i] * gain[i];
                if (v > 0.5f) p = CRUISE;
                break;
            case CRUISE:
                a = -0.01f * v * fabs(v);
                if (x > target - v * v) p = BRAKE;
                break;
            case BRAKE:
                a = -2 * v;
                if (v < 0.05f) { t = steps; continue; }
            }
            v += 0.2f * a;
            x += 0.2f * v;
        }
        pos[i] = x;
        vel[i] = v;
    }
}
