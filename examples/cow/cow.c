/* A mass-spring body in flight: the whole simulation is one kernel.
 *
 * n points of mass `mass` each, m springs (the mesh's edges). Semi-implicit Euler; the floor at
 * y = 0 pushes back like a stiff spring whose damping and friction grow with depth (Hunt and
 * Crossley, 1975), so that the force is continuous. Positions and velocities have a
 * time axis, so each element is written once. The loss is the squared distance of the body's
 * centre from a target at the end.
 *
 * Units: metres, seconds, kilograms. Any C compiler takes this file: cc -fopenmp -c cow.c */
#include <math.h>

typedef struct {
    float x, y, z;
} vec3;

static vec3 sub(vec3 a, vec3 b) {
    vec3 r = {a.x - b.x, a.y - b.y, a.z - b.z};
    return r;
}

static float dot(vec3 a, vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

void fly(int steps, int n, int m, const vec3 start[n], const int ends[m][2], const float rest[m],
         float dt, float mass, float stiffness, float damping, vec3 launch, vec3 target,
         vec3 pos[steps + 1][n], vec3 vel[steps + 1][n], float loss[1]) {
    const float gravity = -9.81f, floor_stiffness = 5.0f, floor_damping = 0.1f, friction = 0.2f;

#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        pos[0][i] = start[i];
        vel[0][i] = launch;
    }

    for (int t = 0; t < steps; t++) {
        vec3 force[n];

#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            vec3 p = pos[t][i], v = vel[t][i];
            vec3 f = {0.0f, mass * gravity, 0.0f};
            if (p.y < 0.0f) {
                float push = -floor_stiffness * p.y * fmaxf(1.0f - floor_damping * v.y, 0.0f);
                f.y += push;
                f.x -= friction * push * v.x;
                f.z -= friction * push * v.z;
            }
            force[i] = f;
        }

#pragma omp parallel for
        for (int s = 0; s < m; s++) {
            int a = ends[s][0], b = ends[s][1];
            vec3 d = sub(pos[t][b], pos[t][a]);
            vec3 u = sub(vel[t][b], vel[t][a]);
            float length = sqrtf(dot(d, d));
            float pull = stiffness * (length - rest[s]) / length + damping * dot(u, d) / dot(d, d);
#pragma omp atomic
            force[a].x += pull * d.x;
#pragma omp atomic
            force[a].y += pull * d.y;
#pragma omp atomic
            force[a].z += pull * d.z;
#pragma omp atomic
            force[b].x -= pull * d.x;
#pragma omp atomic
            force[b].y -= pull * d.y;
#pragma omp atomic
            force[b].z -= pull * d.z;
        }

#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            float k = dt / mass;
            vec3 v = vel[t][i], p = pos[t][i];
            v.x += k * force[i].x;
            v.y += k * force[i].y;
            v.z += k * force[i].z;
            vel[t + 1][i] = v;
            p.x += dt * v.x;
            p.y += dt * v.y;
            p.z += dt * v.z;
            pos[t + 1][i] = p;
        }
    }

    float cx = 0.0f, cy = 0.0f, cz = 0.0f;
#pragma omp parallel for reduction(+ : cx, cy, cz)
    for (int i = 0; i < n; i++) {
        cx += pos[steps][i].x;
        cy += pos[steps][i].y;
        cz += pos[steps][i].z;
    }
    float ex = cx / n - target.x, ey = cy / n - target.y, ez = cz / n - target.z;
    loss[0] = ex * ex + ey * ey + ez * ez;
}
