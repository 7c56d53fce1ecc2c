/* A picture in memory: pixels with depth, shaded triangles, lines, text; written as PNG. */
#ifndef COW_IMAGE_H
#define COW_IMAGE_H

#include <stdbool.h>

typedef struct color {
    float r, g, b;
} color;

typedef struct image {
    int width, height;
    color *pixel; /* [height * width] 0 to 1, linear */
    float *depth; /* smaller is nearer */
} image;

bool image_new(image *im, int width, int height, color background);
void image_free(image *im);
/* Corners in pixels with depth; one color for the face. */
void image_triangle(image *im, const float a[3], const float b[3], const float c[3], color k,
                    float opacity);
void image_line(image *im, float x0, float y0, float x1, float y1, float thickness, color k);
void image_disc(image *im, float x, float y, float radius, color k);
void image_text(image *im, float x, float y, float size, color k, const char *text);
/* Averages blocks of factor x factor pixels into a smaller picture and writes it. */
bool image_write(const image *im, int factor, const char *path);

#endif
