#include "image.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool image_new(image *im, int width, int height, color background) {
    size_t n = (size_t)width * (size_t)height;
    im->width = width;
    im->height = height;
    im->pixel = malloc(n * sizeof *im->pixel);
    im->depth = malloc(n * sizeof *im->depth);
    if (!im->pixel || !im->depth) {
        image_free(im);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        im->pixel[i] = background;
        im->depth[i] = INFINITY;
    }
    return true;
}

void image_free(image *im) {
    free(im->pixel);
    free(im->depth);
    im->pixel = NULL;
    im->depth = NULL;
}

static void blend(image *im, int x, int y, color k, float opacity) {
    if (x < 0 || y < 0 || x >= im->width || y >= im->height)
        return;
    color *p = &im->pixel[(size_t)y * (size_t)im->width + (size_t)x];
    p->r += opacity * (k.r - p->r);
    p->g += opacity * (k.g - p->g);
    p->b += opacity * (k.b - p->b);
}

static int clamp_int(float v, int lo, int hi) {
    return v < (float)lo ? lo : v > (float)hi ? hi : (int)v;
}

void image_triangle(image *im, const float a[3], const float b[3], const float c[3], color k,
                    float opacity) {
    float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (!(fabsf(area) > 1e-9f))
        return;
    int x0 = clamp_int(floorf(fminf(a[0], fminf(b[0], c[0]))), 0, im->width - 1);
    int x1 = clamp_int(ceilf(fmaxf(a[0], fmaxf(b[0], c[0]))), 0, im->width - 1);
    int y0 = clamp_int(floorf(fminf(a[1], fminf(b[1], c[1]))), 0, im->height - 1);
    int y1 = clamp_int(ceilf(fmaxf(a[1], fmaxf(b[1], c[1]))), 0, im->height - 1);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            float u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area;
            float v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area;
            float w = 1 - u - v;
            if (u < 0 || v < 0 || w < 0)
                continue;
            float z = u * a[2] + v * b[2] + w * c[2];
            float *d = &im->depth[(size_t)y * (size_t)im->width + (size_t)x];
            if (z >= *d - 2e-4f) /* faces in one plane are blended once */
                continue;
            *d = z;
            blend(im, x, y, k, opacity);
        }
}

void image_disc(image *im, float x, float y, float radius, color k) {
    for (int j = (int)floorf(y - radius); j <= (int)ceilf(y + radius); j++)
        for (int i = (int)floorf(x - radius); i <= (int)ceilf(x + radius); i++) {
            float d = hypotf((float)i + 0.5f - x, (float)j + 0.5f - y);
            float cover = fminf(1, fmaxf(0, radius - d + 0.5f));
            if (cover > 0)
                blend(im, i, j, k, cover);
        }
}

void image_line(image *im, float x0, float y0, float x1, float y1, float thickness, color k) {
    float len = hypotf(x1 - x0, y1 - y0);
    float reach = thickness / 2 + 1;
    int i0 = clamp_int(fminf(x0, x1) - reach, 0, im->width - 1);
    int i1 = clamp_int(fmaxf(x0, x1) + reach, 0, im->width - 1);
    int j0 = clamp_int(fminf(y0, y1) - reach, 0, im->height - 1);
    int j1 = clamp_int(fmaxf(y0, y1) + reach, 0, im->height - 1);
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            float px = (float)i + 0.5f - x0, py = (float)j + 0.5f - y0;
            float t = len > 0 ? (px * (x1 - x0) + py * (y1 - y0)) / (len * len) : 0;
            t = fminf(1, fmaxf(0, t));
            float d = hypotf(px - t * (x1 - x0), py - t * (y1 - y0));
            float cover = fminf(1, fmaxf(0, thickness / 2 - d + 0.5f));
            if (cover > 0)
                blend(im, i, j, k, cover);
        }
}

/* Letters of 5 x 7 dots, one byte a column, lowest bit on top: space to underscore. */
static const unsigned char font[64][5] = {
    {0, 0, 0, 0, 0},       {0, 0, 95, 0, 0},       {0, 7, 0, 7, 0},       {20, 127, 20, 127, 20},
    {36, 42, 127, 42, 18}, {35, 19, 8, 100, 98},   {54, 73, 85, 34, 80},  {0, 5, 3, 0, 0},
    {0, 28, 34, 65, 0},    {0, 65, 34, 28, 0},     {20, 8, 62, 8, 20},    {8, 8, 62, 8, 8},
    {0, 80, 48, 0, 0},     {8, 8, 8, 8, 8},        {0, 96, 96, 0, 0},     {32, 16, 8, 4, 2},
    {62, 81, 73, 69, 62},  {0, 66, 127, 64, 0},    {66, 97, 81, 73, 70},  {33, 65, 69, 75, 49},
    {24, 20, 18, 127, 16}, {39, 69, 69, 69, 57},   {60, 74, 73, 73, 48},  {1, 113, 9, 5, 3},
    {54, 73, 73, 73, 54},  {6, 73, 73, 41, 30},    {0, 54, 54, 0, 0},     {0, 86, 54, 0, 0},
    {8, 20, 34, 65, 0},    {20, 20, 20, 20, 20},   {0, 65, 34, 20, 8},    {2, 1, 81, 9, 6},
    {50, 73, 121, 65, 62}, {126, 17, 17, 17, 126}, {127, 73, 73, 73, 54}, {62, 65, 65, 65, 34},
    {127, 65, 65, 34, 28}, {127, 73, 73, 73, 65},  {127, 9, 9, 9, 1},     {62, 65, 73, 73, 122},
    {127, 8, 8, 8, 127},   {0, 65, 127, 65, 0},    {32, 64, 65, 63, 1},   {127, 8, 20, 34, 65},
    {127, 64, 64, 64, 64}, {127, 2, 12, 2, 127},   {127, 4, 8, 16, 127},  {62, 65, 65, 65, 62},
    {127, 9, 9, 9, 6},     {62, 65, 81, 33, 94},   {127, 9, 25, 41, 70},  {70, 73, 73, 73, 49},
    {1, 1, 127, 1, 1},     {63, 64, 64, 64, 63},   {31, 32, 64, 32, 31},  {63, 64, 56, 64, 63},
    {99, 20, 8, 20, 99},   {7, 8, 112, 8, 7},      {97, 81, 73, 69, 67},  {0, 127, 65, 65, 0},
    {2, 4, 8, 16, 32},     {0, 65, 65, 127, 0},    {4, 2, 1, 2, 4},       {64, 64, 64, 64, 64}};

void image_text(image *im, float x, float y, float size, color k, const char *text) {
    float dot = size / 7;
    for (; *text; text++, x += 6 * dot) {
        int c = *text >= 'a' && *text <= 'z' ? *text - 32 : *text;
        if (c < 32 || c > 95)
            continue;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 7; j++)
                if (font[c - 32][i] >> j & 1)
                    for (int q = 0; q < (int)ceilf(dot); q++)
                        for (int p = 0; p < (int)ceilf(dot); p++)
                            blend(im, (int)(x + (float)i * dot) + p, (int)(y + (float)j * dot) + q,
                                  k, 1);
    }
}

static unsigned char to_byte(float linear) {
    float v = powf(fminf(1, fmaxf(0, linear)), 1 / 2.2f);
    return (unsigned char)(v * 255 + 0.5f);
}

bool image_write(const image *im, int factor, const char *path) {
    int w = im->width / factor, h = im->height / factor;
    unsigned char *out = malloc((size_t)w * (size_t)h * 3);
    if (!out)
        return false;
    float scale = 1 / (float)(factor * factor);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            color sum = {0, 0, 0};
            for (int j = 0; j < factor; j++)
                for (int i = 0; i < factor; i++) {
                    color p = im->pixel[(size_t)(y * factor + j) * (size_t)im->width +
                                        (size_t)(x * factor + i)];
                    sum.r += p.r;
                    sum.g += p.g;
                    sum.b += p.b;
                }
            unsigned char *q = out + ((size_t)y * (size_t)w + (size_t)x) * 3;
            q[0] = to_byte(sum.r * scale);
            q[1] = to_byte(sum.g * scale);
            q[2] = to_byte(sum.b * scale);
        }
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)w,
                     .height = (png_uint_32)h,
                     .format = PNG_FORMAT_RGB};
    int ok = png_image_write_to_file(&png, path, 0, out, 0, NULL);
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, png.message);
    free(out);
    return ok != 0;
}
