// An extended Kalman filter of a robot that drives with speed u and sees its position z: gradients
// of the final estimate in the measurements, the noise Q and r.
// Check it:  build/retrograd check examples/ekf.c
// check: steps=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#define N 3
#define M 2
typedef struct {
    real x[N];
    real P[N][N];
} state;
static void predict(state *s, real u, real dt, const real Q[N][N]) {
    real F[N][N] = {{1, 0, -u * dt * sin(s->x[2])}, {0, 1, u * dt * cos(s->x[2])}, {0, 0, 1}};
    real T[N][N], S[N][N];
    s->x[0] += u * dt * cos(s->x[2]);
    s->x[1] += u * dt * sin(s->x[2]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            T[i][j] = 0;
            for (int k = 0; k < N; k++)
                T[i][j] += F[i][k] * s->P[k][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            S[i][j] = Q[i][j];
            for (int k = 0; k < N; k++)
                S[i][j] += T[i][k] * F[j][k];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s->P[i][j] = S[i][j];
}
static void update(state *s, const real z[M], real r) {
    real S[M][M], K[N][M], y[M];
    for (int i = 0; i < M; i++) {
        y[i] = z[i] - s->x[i];
        for (int j = 0; j < M; j++)
            S[i][j] = s->P[i][j] + (i == j ? r * r + 0.1f : 0);
    }
    real det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    real I[M][M] = {{S[1][1] / det, -S[0][1] / det}, {-S[1][0] / det, S[0][0] / det}};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            K[i][j] = 0;
            for (int k = 0; k < M; k++)
                K[i][j] += s->P[i][k] * I[k][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            s->x[i] += K[i][j] * y[j];
    state o = *s;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < M; k++)
                s->P[i][j] -= K[i][k] * o.P[k][j];
}
void ekf(int steps, const real u[steps], const real z[steps][M], const real Q[N][N], real r,
         real out[N], real ll[1]) {
    state s = {.x = {0, 0, 0.3f}, .P = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int t = 0; t < steps; t++) {
        predict(&s, u[t], 0.1f, Q);
        update(&s, z[t], r);
    }
    for (int i = 0; i < N; i++)
        out[i] = s.x[i];
    ll[0] = s.P[0][0] + s.P[1][1];
}
