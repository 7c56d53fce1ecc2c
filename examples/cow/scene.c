#include "scene.h"

#include "image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FACTOR = 2, WIDTH = 1500 * FACTOR, HEIGHT = 620 * FACTOR, PANEL = 400 * FACTOR };

typedef struct camera {
    float scale, cx, cy; /* pixels for a metre; the origin's place */
} camera;

/* A high side view: x to the right, y up, z towards the viewer, drawn obliquely. */
static void project(const camera *c, const float p[3], float out[3]) {
    out[0] = c->cx + c->scale * (p[0] - 0.25f * p[2]);
    out[1] = c->cy - c->scale * (p[1] - 0.35f * p[2]);
    out[2] = -p[2] - 0.2f * p[1];
}

static color mix(color a, color b, float t) {
    return (color){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

static void centre_of(const scene *s, int t, float c[3]) {
    c[0] = c[1] = c[2] = 0;
    for (int i = 0; i < s->body->points; i++)
        for (int k = 0; k < 3; k++)
            c[k] += s->pos[(size_t)t * (size_t)s->body->points + (size_t)i][k];
    for (int k = 0; k < 3; k++)
        c[k] /= (float)s->body->points;
}

static void draw_floor(image *im, const camera *c) {
    for (int i = -4; i < 16; i++)
        for (int j = -4; j < 7; j++) {
            float q[4][3];
            for (int k = 0; k < 4; k++) {
                float p[3] = {0.5f * (float)(i + (k == 1 || k == 2)), -0.004f,
                              0.5f * (float)(j + (k >= 2))};
                project(c, p, q[k]);
                q[k][2] += 50; /* behind everything */
            }
            color k = (i + j) & 1 ? (color){0.50f, 0.58f, 0.42f} : (color){0.55f, 0.63f, 0.46f};
            image_triangle(im, q[0], q[1], q[2], k, 1);
            image_triangle(im, q[0], q[2], q[3], k, 1);
        }
}

static void draw_shadow(image *im, const camera *c, const scene *s, int t, float opacity) {
    const float(*p)[3] = s->pos + (size_t)t * (size_t)s->body->points;
    for (int f = 0; f < s->body->faces; f++) {
        float q[3][3];
        for (int k = 0; k < 3; k++) {
            const float *v = p[s->body->face[f][k]];
            float on_floor[3] = {v[0] + 0.15f * v[1], 0, v[2] + 0.1f * v[1]};
            project(c, on_floor, q[k]);
            q[k][2] = 49 - (float)t * 1e-3f;
        }
        image_triangle(im, q[0], q[1], q[2], (color){0.12f, 0.16f, 0.10f}, opacity);
    }
}

static void draw_body(image *im, const camera *c, const scene *s, int t, color base) {
    const float(*p)[3] = s->pos + (size_t)t * (size_t)s->body->points;
    static const float light[3] = {-0.42f, 0.75f, 0.51f};
    for (int f = 0; f < s->body->faces; f++) {
        const float *a = p[s->body->face[f][0]], *b = p[s->body->face[f][1]],
                    *d = p[s->body->face[f][2]];
        float u[3], v[3], q[3][3];
        for (int k = 0; k < 3; k++) {
            u[k] = b[k] - a[k];
            v[k] = d[k] - a[k];
        }
        float n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                      u[0] * v[1] - u[1] * v[0]};
        float len = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) + 1e-12f;
        float lit = (n[0] * light[0] + n[1] * light[1] + n[2] * light[2]) / len;
        float up = n[1] / len;
        float shade = 0.28f + 0.12f * up + 0.6f * fmaxf(0, lit);
        project(c, a, q[0]);
        project(c, b, q[1]);
        project(c, d, q[2]);
        image_triangle(im, q[0], q[1], q[2], mix((color){0.05f, 0.05f, 0.10f}, base, shade), 1);
    }
}

static void draw_curve(image *im, const scene *s) {
    const float f = FACTOR, x0 = (float)(WIDTH - PANEL) + 60 * f, x1 = (float)WIDTH - 24 * f,
                y0 = 70 * f, y1 = (float)HEIGHT - 60 * f;
    const color ink = {0.05f, 0.06f, 0.09f}, grid = {0.80f, 0.81f, 0.83f};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = WIDTH - PANEL; x < WIDTH; x++)
            im->pixel[(size_t)y * WIDTH + (size_t)x] = (color){0.96f, 0.96f, 0.95f};
    float top = -20, bottom = 20;
    for (int i = 0; i < s->n; i++) {
        float l = log10f(fmaxf(s->losses[i], 1e-12f));
        top = fmaxf(top, l);
        bottom = fminf(bottom, l);
    }
    top = ceilf(top);
    bottom = floorf(bottom);
    char text[64];
    for (float d = bottom; d <= top + 0.5f; d++) {
        float y = y1 - (y1 - y0) * (d - bottom) / (top - bottom);
        image_line(im, x0, y, x1, y, f, grid);
        snprintf(text, sizeof text, "1E%+d", (int)d);
        image_text(im, x0 - 44 * f, y - 5 * f, 10 * f, ink, text);
    }
    image_line(im, x0, y1, x1, y1, 1.5f * f, ink);
    image_line(im, x0, y0, x0, y1, 1.5f * f, ink);
    image_text(im, x0, 26 * f, 14 * f, ink, "LOSS (M^2), EACH STEP");
    if (s->switched < s->n) {
        float x = x0 + (x1 - x0) * (float)s->switched / (float)(s->n > 1 ? s->n - 1 : 1);
        image_line(im, x, y0, x, y1, f, (color){0.45f, 0.62f, 0.45f});
        image_text(im, fminf(x - 40 * f, x1 - 84 * f), y0 - 16 * f, 10 * f,
                   (color){0.20f, 0.40f, 0.20f}, "STIFFNESS TOO");
    }
    float px = 0, py = 0;
    for (int i = 0; i < s->n; i++) {
        float l = log10f(fmaxf(s->losses[i], 1e-12f));
        float x = x0 + (x1 - x0) * (float)i / (float)(s->n > 1 ? s->n - 1 : 1);
        float y = y1 - (y1 - y0) * (l - bottom) / (top - bottom);
        color k = {0.62f, 0.13f, 0.08f};
        if (i)
            image_line(im, px, py, x, y, 2 * f, k);
        image_disc(im, x, y, 3 * f, k);
        px = x;
        py = y;
        if (i % 10 == 0) {
            snprintf(text, sizeof text, "%d", i);
            image_text(im, x - 4 * f, y1 + 12 * f, 10 * f, ink, text);
        }
    }
}

static void draw_target(image *im, const camera *c, const scene *s) {
    float q[3], low[3] = {s->target[0], 0, s->target[2]}, p[3];
    project(c, s->target, q);
    project(c, low, p);
    const color red = {0.75f, 0.07f, 0.05f};
    image_line(im, p[0], p[1], q[0], q[1], 1.5f * FACTOR, red);
    image_disc(im, q[0], q[1], 8 * FACTOR, red);
    image_disc(im, q[0], q[1], 5 * FACTOR, (color){1, 1, 1});
    image_disc(im, q[0], q[1], 2.5f * FACTOR, red);
    image_text(im, q[0] - 24 * FACTOR, q[1] - 26 * FACTOR, 11 * FACTOR, red, "TARGET");
}

bool scene_draw(const scene *s, const char *path) {
    image im;
    if (!image_new(&im, WIDTH, HEIGHT, (color){0.74f, 0.84f, 0.93f}))
        return false;
    float low = 0, high = 1;
    for (int t = 0; t <= s->steps; t++) {
        float c[3];
        centre_of(s, t, c);
        low = fminf(low, fminf(c[0], s->before[t][0]));
        high = fmaxf(high, fmaxf(c[0], s->target[0]));
    }
    camera cam = {0};
    cam.scale = ((float)(WIDTH - PANEL) - 60 * FACTOR) / (high - low + 2.0f);
    cam.cx = 30 * FACTOR - cam.scale * (low - 1.0f);
    cam.cy = (float)HEIGHT - 110 * FACTOR;
    draw_floor(&im, &cam);
    const int frames = 6;
    for (int k = 0; k <= frames; k++)
        draw_shadow(&im, &cam, s, k * s->steps / frames, 0.35f);
    float a[3], b[3], p[3], q[3];
    for (int t = 4; t <= s->steps; t += 4) {
        project(&cam, s->before[t - 4], p);
        project(&cam, s->before[t], q);
        if ((t / 4) % 2)
            image_line(&im, p[0], p[1], q[0], q[1], 1.5f * FACTOR, (color){0.35f, 0.36f, 0.42f});
    }
    for (int k = 0; k <= frames; k++) {
        float u = (float)k / (float)frames;
        color base = k == 0 ? (color){0.85f, 0.87f, 0.95f}
                            : mix((color){0.92f, 0.86f, 0.72f}, (color){0.95f, 0.62f, 0.35f}, u);
        draw_body(&im, &cam, s, k * s->steps / frames, base);
    }
    for (int t = 2; t <= s->steps; t += 2) {
        centre_of(s, t - 2, a);
        centre_of(s, t, b);
        project(&cam, a, p);
        project(&cam, b, q);
        image_line(&im, p[0], p[1], q[0], q[1], 2 * FACTOR, (color){0.62f, 0.13f, 0.08f});
    }
    draw_target(&im, &cam, s);
    image_text(&im, 24 * FACTOR, 26 * FACTOR, 14 * FACTOR, (color){0.05f, 0.06f, 0.09f},
               "START, FLIGHT AND LANDING (DASHED: BEFORE DESCENT)");
    draw_curve(&im, s);
    bool ok = image_write(&im, FACTOR, path);
    image_free(&im);
    return ok;
}
