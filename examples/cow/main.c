/* Throws a cow at a target.
 *
 *     cow MESH.obj cow.c OUT.png [DEVICE] [--device DEVICE] [--descent N]
 *
 * N: at most so many steps of gradient descent, wherever they land (default 24, to the target).
 * The mesh becomes a mass-spring body; cow.c steps it in time until it has flown and bounced off
 * the floor. Its gradient through all the steps, by Retrograd, drives gradient descent: first to
 * the launch velocity that brings the body's centre to the target, then to the stiffness of its
 * springs as well. The gradient is checked against differences before it is used. */
#include "image.h"
#include "mesh.h"
#include "retrograd.h"
#include "scene.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 600, MAX_ITERATIONS = 24 };
static const float ENOUGH = 1e-4f; /* square metres: a centimetre */
static const float DT = 1.0f / 500;

typedef struct vec3 {
    float x, y, z;
} vec3;

/* The simulation: everything that the kernel's arguments need. */
typedef struct world {
    rg_context *ctx;
    rg_device *dev;
    rg_module *mod;
    rg_kernel *fly;
    mesh body;
    rg_array *start, *ends, *rest, *pos, *vel, *loss;
    rg_array *launch_gradient, *stiffness_gradient;
    int steps, n, m;
    float dt, mass, stiffness, damping;
    vec3 launch, target;
} world;

static int failed(world *w, const char *what, rg_status s) {
    fprintf(stderr, "cow: %s: %s error: %s\n", what, rg_status_name(s), rg_context_message(w->ctx));
    return 1;
}
#define TRY(call)                                                                                  \
    do {                                                                                           \
        rg_status s_ = (call);                                                                     \
        if (s_ != RG_OK)                                                                           \
            return failed(w, #call, s_);                                                           \
    } while (0)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { P_START = 3, P_ENDS, P_REST, P_POS = 12, P_VEL, P_LOSS, N_PARAMS };

static int open_world(world *w, const char *mesh_path, const char *kernel, const char *device) {
    TRY(rg_context_new(NULL, &w->ctx));
    TRY(rg_device_open(w->ctx, device, NULL, &w->dev));
    TRY(rg_module_load(w->dev, kernel, NULL, &w->mod));
    TRY(rg_module_kernel(w->mod, "fly", &w->fly));
    if (!mesh_read(&w->body, mesh_path))
        return 1;
    w->steps = STEPS;
    w->n = w->body.points;
    w->m = w->body.springs;
    w->dt = DT;
    w->mass = 1.0f / (float)w->n;
    w->stiffness = 2.0f;
    w->damping = 0.003f;
    w->launch = (vec3){3.2f, 2.4f, 0.0f};
    w->target = (vec3){5.4f, 0.85f, 0.6f};
    float low = INFINITY;
    for (int i = 0; i < w->n; i++)
        low = fminf(low, w->body.at[i][1]);
    for (int i = 0; i < w->n; i++)
        w->body.at[i][1] += 0.35f - low; /* a little above the floor */
    int64_t n = w->n, m = w->m, frames = w->steps + 1, one = 1;
    TRY(rg_array_for(w->fly, P_START, 1, &n, false, &w->start));
    TRY(rg_array_for(w->fly, P_ENDS, 2, (int64_t[]){m, 2}, false, &w->ends));
    TRY(rg_array_for(w->fly, P_REST, 1, &m, false, &w->rest));
    TRY(rg_array_for(w->fly, P_POS, 2, (int64_t[]){frames, n}, true, &w->pos));
    TRY(rg_array_for(w->fly, P_VEL, 2, (int64_t[]){frames, n}, true, &w->vel));
    TRY(rg_array_new(w->dev, RG_DTYPE_F32, 1, &one, true, &w->loss));
    TRY(rg_array_new(w->dev, RG_DTYPE_F32, 1, &one, false, &w->stiffness_gradient));
    TRY(rg_array_new_struct(w->dev, sizeof(vec3), 1, &one, false, &w->launch_gradient));
    TRY(rg_array_write(w->start, RG_DATA, w->body.at, (size_t)n * sizeof(vec3)));
    TRY(rg_array_write(w->ends, RG_DATA, w->body.end, (size_t)m * sizeof *w->body.end));
    TRY(rg_array_write(w->rest, RG_DATA, w->body.rest, (size_t)m * sizeof *w->body.rest));
    return 0;
}

static void close_world(world *w) {
    rg_array *all[] = {w->start,
                       w->ends,
                       w->rest,
                       w->pos,
                       w->vel,
                       w->loss,
                       w->launch_gradient,
                       w->stiffness_gradient};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        rg_array_release(all[i]);
    rg_module_release(w->mod);
    rg_device_release(w->dev);
    rg_context_release(w->ctx);
    mesh_free(&w->body);
}

static void arguments(world *w, rg_arg a[N_PARAMS]) {
    const rg_arg list[N_PARAMS] = {RG_VALUE(w->steps),
                                   RG_VALUE(w->n),
                                   RG_VALUE(w->m),
                                   RG_ARRAY(w->start),
                                   RG_ARRAY(w->ends),
                                   RG_ARRAY(w->rest),
                                   RG_VALUE(w->dt),
                                   RG_VALUE(w->mass),
                                   RG_VALUE_GRAD(w->stiffness, w->stiffness_gradient),
                                   RG_VALUE(w->damping),
                                   RG_VALUE_GRAD(w->launch, w->launch_gradient),
                                   RG_VALUE(w->target),
                                   RG_ARRAY(w->pos),
                                   RG_ARRAY(w->vel),
                                   RG_ARRAY(w->loss)};
    memcpy(a, list, sizeof list);
}

static int simulate(world *w, float *loss) {
    rg_arg a[N_PARAMS];
    arguments(w, a);
    TRY(rg_launch(w->fly, a, N_PARAMS));
    TRY(rg_sync(w->dev));
    TRY(rg_array_read(w->loss, RG_DATA, loss, sizeof *loss));
    return 0;
}

/* The loss, and its gradient with respect to launch and stiffness. */
static int differentiate(world *w, float *loss, vec3 *dlaunch, float *dstiffness) {
    const float one = 1;
    rg_arg a[N_PARAMS];
    arguments(w, a);
    TRY(rg_array_fill_zero(w->launch_gradient, RG_DATA));
    TRY(rg_array_fill_zero(w->stiffness_gradient, RG_DATA));
    TRY(rg_array_fill_zero(w->pos, RG_GRADIENT));
    TRY(rg_array_fill_zero(w->vel, RG_GRADIENT));
    rg_record *r;
    TRY(rg_record_launch(w->fly, a, N_PARAMS, &r));
    rg_status s = rg_array_write(w->loss, RG_GRADIENT, &one, sizeof one);
    if (s == RG_OK)
        s = rg_backward(r);
    rg_record_release(r);
    TRY(s);
    TRY(rg_sync(w->dev));
    TRY(rg_array_read(w->loss, RG_DATA, loss, sizeof *loss));
    TRY(rg_array_read(w->launch_gradient, RG_DATA, dlaunch, sizeof *dlaunch));
    TRY(rg_array_read(w->stiffness_gradient, RG_DATA, dstiffness, sizeof *dstiffness));
    return 0;
}

/* Forward mode along one direction: launch by (x, y, z), stiffness by s. */
static int tangent(world *w, vec3 direction, float s, float *dloss) {
    rg_arg a[N_PARAMS];
    arguments(w, a);
    TRY(rg_array_fill_zero(w->pos, RG_GRADIENT));
    TRY(rg_array_fill_zero(w->vel, RG_GRADIENT));
    TRY(rg_array_fill_zero(w->loss, RG_GRADIENT));
    TRY(rg_array_write(w->launch_gradient, RG_DATA, &direction, sizeof direction));
    TRY(rg_array_write(w->stiffness_gradient, RG_DATA, &s, sizeof s));
    TRY(rg_launch_tangent(w->fly, a, N_PARAMS));
    TRY(rg_sync(w->dev));
    TRY(rg_array_read(w->loss, RG_GRADIENT, dloss, sizeof *dloss));
    return 0;
}

/* Adjoint, tangent and central difference along each of the four parameters. A float simulation of
 * hundreds of steps limits what a difference can show to a few digits. */
static int check(world *w) {
    static const char *const names[] = {"launch.x", "launch.y", "launch.z", "stiffness"};
    vec3 g;
    float loss, gs;
    if (differentiate(w, &loss, &g, &gs))
        return 1;
    const float adjoint[4] = {g.x, g.y, g.z, gs};
    printf("gradient of the loss at the start (loss %.4f)\n", (double)loss);
    printf("  %-10s %14s %14s %14s\n", "", "adjoint", "tangent", "difference");
    int bad = 0;
    for (int k = 0; k < 4; k++) {
        float *p = k == 0   ? &w->launch.x
                   : k == 1 ? &w->launch.y
                   : k == 2 ? &w->launch.z
                            : &w->stiffness;
        vec3 d = {k == 0, k == 1, k == 2};
        float t, keep = *p, h = k == 3 ? 0.02f : 0.005f, up, down;
        if (tangent(w, d, k == 3, &t))
            return 1;
        *p = keep + h;
        if (simulate(w, &up))
            return 1;
        *p = keep - h;
        if (simulate(w, &down))
            return 1;
        *p = keep;
        float difference = (up - down) / (2 * h);
        printf("  %-10s %14.6f %14.6f %14.6f\n", names[k], (double)adjoint[k], (double)t,
               (double)difference);
        float scale = fabsf(adjoint[k]) + 0.02f;
        if (fabsf(adjoint[k] - t) > 0.01f * scale ||
            !(fabsf(adjoint[k] - difference) <= 0.1f * scale))
            bad++;
    }
    if (bad)
        fprintf(stderr, "cow: %d of 4 derivatives disagree\n", bad);
    return bad;
}

/* Gradient descent with Polyak's step: loss / |g|^2 times a factor, since the least loss is known
 * to be 0 (Polyak, 1987). First the launch, then the stiffness too, in units in which one step of
 * each weighs about the same. Returns the number of losses written to curve. */
static int descend(world *w, int most, float *curve, int *switched) {
    static const float unit[4] = {1, 2, 1, 0.5f};
    int n = 0;
    bool stiffness_too = false;
    double started = now();
    *switched = most;
    while (n < most) {
        vec3 g;
        float loss, gs;
        if (differentiate(w, &loss, &g, &gs))
            return -1;
        curve[n++] = loss;
        if (!isfinite(loss) || !isfinite(g.x + g.y + g.z + gs)) {
            fprintf(stderr, "cow: the simulation left the finite numbers\n");
            return -1;
        }
        printf("  step %2d  loss %9.6f  launch (%6.3f %6.3f %6.3f)  stiffness %6.3f  %4.1f s\n", n,
               (double)loss, (double)w->launch.x, (double)w->launch.y, (double)w->launch.z,
               (double)w->stiffness, now() - started);
        fflush(stdout);
        if (loss < ENOUGH && stiffness_too)
            break;
        if (!stiffness_too && (loss < 0.02f || n >= MAX_ITERATIONS / 2)) {
            stiffness_too = true;
            *switched = n;
        }
        const float grad[4] = {g.x, g.y, g.z, stiffness_too ? gs : 0};
        float *p[4] = {&w->launch.x, &w->launch.y, &w->launch.z, &w->stiffness};
        float norm = 0;
        for (int k = 0; k < 4; k++)
            norm += unit[k] * unit[k] * grad[k] * grad[k];
        float step = norm > 0 ? loss / norm : 0;
        for (int k = 0; k < 4; k++) {
            float move = step * unit[k] * unit[k] * grad[k];
            *p[k] -= fminf(fmaxf(move, -0.6f), 0.6f);
        }
        w->stiffness = fminf(fmaxf(w->stiffness, 0.5f), 3.0f); /* what this time step bears */
    }
    return n;
}

static int picture(world *w, const vec3 *before, const float *curve, int n, int switched,
                   const char *path) {
    size_t bytes = rg_array_count(w->pos) * sizeof(vec3);
    float(*pos)[3] = malloc(bytes);
    if (!pos)
        return 1;
    rg_status s = rg_array_read(w->pos, RG_DATA, pos, bytes);
    scene sc = {.body = &w->body,
                .steps = w->steps,
                .pos = pos,
                .before = (const float(*)[3])before,
                .target = {w->target.x, w->target.y, w->target.z},
                .losses = curve,
                .n = n,
                .switched = switched};
    int bad = s != RG_OK || !scene_draw(&sc, path);
    free(pos);
    return bad;
}

/* The centre's path before descent, for the picture. */
static int first_flight(world *w, vec3 *centre) {
    float loss;
    if (simulate(w, &loss))
        return 1;
    size_t bytes = rg_array_count(w->pos) * sizeof(vec3);
    vec3 *pos = malloc(bytes);
    if (!pos)
        return 1;
    rg_status s = rg_array_read(w->pos, RG_DATA, pos, bytes);
    for (int t = 0; t <= w->steps && s == RG_OK; t++) {
        vec3 c = {0, 0, 0};
        for (int i = 0; i < w->n; i++) {
            const vec3 *p = &pos[(size_t)t * (size_t)w->n + (size_t)i];
            c.x += p->x;
            c.y += p->y;
            c.z += p->z;
        }
        centre[t] = (vec3){c.x / (float)w->n, c.y / (float)w->n, c.z / (float)w->n};
    }
    free(pos);
    return s != RG_OK;
}

typedef struct options {
    const char *mesh, *kernel, *picture, *device;
    int descent; /* 0: to the target */
} options;

static bool read_options(int argc, char **argv, options *o) {
    const char *words[4] = {NULL, NULL, NULL, "cpu"};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        bool device = strcmp(argv[i], "--device") == 0, descent = strcmp(argv[i], "--descent") == 0;
        if (!device && !descent) {
            if (n == 4)
                return false;
            words[n++] = argv[i];
            continue;
        }
        if (++i == argc)
            return false;
        if (device) {
            words[3] = argv[i];
            continue;
        }
        char *end;
        long steps = strtol(argv[i], &end, 10);
        if (*end || steps < 1 || steps > MAX_ITERATIONS)
            return false;
        o->descent = (int)steps;
    }
    o->mesh = words[0];
    o->kernel = words[1];
    o->picture = words[2];
    o->device = words[3];
    return n >= 3;
}

int main(int argc, char **argv) {
    options o = {0};
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr,
                "usage: cow MESH.obj cow.c OUT.png [DEVICE] [--device DEVICE] [--descent N]\n"
                "N is 1 to %d\n",
                MAX_ITERATIONS);
        return 2;
    }
    static world w_;
    static float curve[MAX_ITERATIONS];
    static vec3 before[STEPS + 1];
    world *w = &w_;
    double started = now();
    int switched = 0;
    int bad = open_world(w, o.mesh, o.kernel, o.device);
    if (!bad) {
        printf("%d points, %d springs, %d steps of %.4f s\n", w->n, w->m, w->steps, (double)w->dt);
        bad = check(w);
    }
    if (!bad)
        bad = first_flight(w, before);
    int n = 0;
    if (!bad) {
        printf("descent\n");
        n = descend(w, o.descent ? o.descent : MAX_ITERATIONS, curve, &switched);
        bad = n < 0;
    }
    if (!bad) {
        printf("landed %.4f m from the target, launch (%.3f %.3f %.3f) m/s, stiffness %.3f N/m\n",
               sqrt((double)curve[n - 1]), (double)w->launch.x, (double)w->launch.y,
               (double)w->launch.z, (double)w->stiffness);
        bad = picture(w, before, curve, n, switched, o.picture);
    }
    if (!bad)
        printf("wrote %s (%.1f s)\n", o.picture, now() - started);
    if (!bad && !o.descent && curve[n - 1] > ENOUGH) {
        fprintf(stderr, "cow: descent did not reach the target\n");
        bad = 1;
    }
    close_world(w);
    return bad ? 1 : 0;
}
