#include "mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void **p, int n, size_t size) {
    if (n & (n - 1)) /* grows at powers of two */
        return true;
    void *q = realloc(*p, (size_t)(n ? 2 * n : 1) * size);
    if (!q)
        return false;
    *p = q;
    return true;
}

static bool add_spring(mesh *m, int a, int b) {
    void *end = m->end;
    if (!grow(&end, m->springs, sizeof *m->end))
        return false;
    m->end = end;
    m->end[m->springs][0] = a < b ? a : b;
    m->end[m->springs][1] = a < b ? b : a;
    m->springs++;
    return true;
}

typedef struct edge {
    int a, b; /* a < b */
} edge;

static int by_ends(const void *p, const void *q) {
    const edge *a = p, *b = q;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b != b->b ? (a->b < b->b ? -1 : 1) : 0;
}

/* Through the body: each point holds on to a few others anywhere, which keeps the shape. The choice
 * is pseudo-random but always the same (a linear congruential generator's high bits). */
static bool add_braces(mesh *m) {
    unsigned state = 12345;
    bool ok = true;
    for (int i = 0; i < m->points && ok; i++)
        for (int k = 0; k < 3 && ok; k++) {
            state = state * 1664525u + 1013904223u;
            int j = (int)((state >> 8) % (unsigned)m->points);
            if (j != i)
                ok = add_spring(m, i, j);
        }
    return ok;
}

static bool add_springs(mesh *m) {
    edge *e = malloc(((size_t)m->faces * 3 + 1) * sizeof *e);
    if (!e)
        return false;
    int n = 0;
    for (int f = 0; f < m->faces; f++)
        for (int k = 0; k < 3; k++) {
            int a = m->face[f][k], b = m->face[f][(k + 1) % 3];
            e[n++] = (edge){a < b ? a : b, a < b ? b : a};
        }
    qsort(e, (size_t)n, sizeof *e, by_ends);
    bool ok = true;
    for (int k = 0; k < n && ok; k++) {
        if (k == 0 || by_ends(&e[k - 1], &e[k]) != 0)
            ok = add_spring(m, e[k].a, e[k].b);
    }
    free(e);
    ok = ok && add_braces(m);
    m->rest = malloc(((size_t)m->springs + 1) * sizeof *m->rest);
    if (!ok || !m->rest)
        return false;
    for (int s = 0; s < m->springs; s++) {
        const float *a = m->at[m->end[s][0]], *b = m->at[m->end[s][1]];
        m->rest[s] = sqrtf((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                           (a[2] - b[2]) * (a[2] - b[2]));
    }
    return true;
}

bool mesh_read(mesh *m, const char *path) {
    memset(m, 0, sizeof *m);
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return false;
    }
    char line[512];
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, f); number++) {
        if (strncmp(line, "v ", 2) == 0) {
            void *at = m->at;
            ok = grow(&at, m->points, sizeof *m->at);
            m->at = at;
            if (!ok)
                break;
            float *p = m->at[m->points++];
            ok = sscanf(line + 2, "%f %f %f", &p[0], &p[1], &p[2]) == 3;
        } else if (strncmp(line, "f ", 2) == 0) {
            void *face = m->face;
            ok = grow(&face, m->faces, sizeof *m->face);
            m->face = face;
            if (!ok)
                break;
            char *s = line + 2;
            for (int k = 0; k < 3 && ok; k++) {
                long v = strtol(s, &s, 10);
                ok = v >= 1 && v <= m->points;
                m->face[m->faces][k] = (int)v - 1;
                s += strcspn(s, " \t\n");
            }
            m->faces++;
        }
        if (!ok)
            fprintf(stderr, "%s:%d: cannot read this line\n", path, number);
    }
    fclose(f);
    if (ok && m->faces == 0) {
        fprintf(stderr, "%s: no triangles\n", path);
        ok = false;
    }
    if (ok && !add_springs(m)) {
        fprintf(stderr, "out of memory\n");
        ok = false;
    }
    if (!ok)
        mesh_free(m);
    return ok;
}

void mesh_free(mesh *m) {
    free(m->at);
    free(m->face);
    free(m->end);
    free(m->rest);
    memset(m, 0, sizeof *m);
}
