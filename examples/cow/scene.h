/* The picture: start, flight and landing, shaded, beside the loss curve. */
#ifndef COW_SCENE_H
#define COW_SCENE_H

#include "mesh.h"

typedef struct scene {
    const mesh *body;
    int steps;
    const float (*pos)[3];    /* [(steps + 1) * points] */
    const float (*before)[3]; /* [steps + 1] the centre's path before descent */
    float target[3];
    const float *losses; /* [n] */
    int n, switched;     /* from step `switched` on the stiffness was fitted too */
} scene;

bool scene_draw(const scene *s, const char *path);

#endif
