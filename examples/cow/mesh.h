/* Triangle mesh from a Wavefront OBJ file, and its springs. */
#ifndef COW_MESH_H
#define COW_MESH_H

#include <stdbool.h>

typedef struct mesh {
    int points, faces, springs;
    float (*at)[3]; /* [points] */
    int (*face)[3]; /* [faces] indices of points */
    int (*end)[2];  /* [springs] */
    float *rest;    /* [springs] length at rest */
} mesh;

/* Reads `v` and `f` lines (triangles; texture and normal indices are skipped). Every edge is a
 * spring; so are three lines from each point through the body, which keep its shape. Words of what
 * is wrong go to stderr. */
bool mesh_read(mesh *m, const char *path);
void mesh_free(mesh *m);

#endif
