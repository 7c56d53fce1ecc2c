/* msl_run: one compute kernel of a SPIR-V module, translated to Metal by SPIRV-Cross and run on the
 * CPU. tests/msl/run_msl.py --help says how it is used. */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct memory {
    const char *name, *spec;
    unsigned char *at;
    size_t size;
} memory;
typedef struct bound {
    uint32_t set, binding;
    const char *name;
} bound;
typedef struct options {
    const char *library, *entry, *module;
    rg_msl_options msl;
    bool text, slots, run, version;
    uint32_t groups, simd;
    RG_VEC(memory) memories;
    RG_VEC(bound) bounds;
    RG_VEC(const char *) prints;
} options;

static rg_arena *arena;

_Noreturn static void stop(int status, const char *what, const char *more) {
    fprintf(stderr, "msl_run: %s%s%s\n", what, more && *more ? ": " : "", more ? more : "");
    rg_arena_free(arena);
    exit(status);
}

static memory *find(options *o, const char *name, size_t n) {
    for (uint32_t i = 0; i < o->memories.n; i++)
        if (strlen(o->memories.at[i].name) == n && strncmp(o->memories.at[i].name, name, n) == 0)
            return &o->memories.at[i];
    return NULL;
}

/* ---- memory: ITEM,ITEM... where ITEM is TYPE[*COUNT]:VALUE, pad:BYTES or &NAME[+BYTES] ---- */

static const struct type {
    const char *name;
    size_t size;
    bool real;
} types[] = {{"i8", 1, false},  {"u8", 1, false},  {"i16", 2, false}, {"u16", 2, false},
             {"i32", 4, false}, {"u32", 4, false}, {"i64", 8, false}, {"u64", 8, false},
             {"f32", 4, true},  {"f64", 8, true}};
enum { TYPES = sizeof types / sizeof *types };

static const struct type *type_find(const char *name, size_t n) {
    for (int i = 0; i < TYPES; i++)
        if (strlen(types[i].name) == n && strncmp(types[i].name, name, n) == 0)
            return &types[i];
    return NULL;
}

static void put(const struct type *t, const char *value, unsigned char *at) {
    double d = strtod(value, NULL);
    float f = (float)d;
    uint64_t u = strtoull(value, NULL, 0);
    const void *from = !t->real ? (const void *)&u : t->size == 4 ? (const void *)&f : &d;
    memcpy(at, from, t->size);
}

/* Bytes that the items take; with at not NULL writes them too. */
static size_t items(options *o, const memory *m, unsigned char *at) {
    size_t size = 0;
    for (const char *p = m->spec; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        if (*p == '&') {
            size_t name = strcspn(p + 1, ",+");
            memory *to = find(o, p + 1, name);
            if (!to)
                stop(2, "no memory has that name", p);
            uint64_t address = (uint64_t)(uintptr_t)to->at;
            if (p[1 + name] == '+')
                address += strtoull(p + 2 + name, NULL, 0);
            size = (size + 7) / 8 * 8;
            if (at)
                memcpy(at + size, &address, 8);
            size += 8;
        } else {
            size_t name = strcspn(p, ",*:");
            size_t count = p[name] == '*' ? strtoull(p + name + 1, NULL, 0) : 1;
            const char *value = memchr(p, ':', n);
            const struct type *t = type_find(p, name);
            if (value && strncmp(p, "pad", name) == 0) {
                size += strtoull(value + 1, NULL, 0);
            } else if (!value || !t) {
                stop(2, "an item of memory is TYPE[*COUNT]:VALUE, pad:BYTES or &NAME[+BYTES]", p);
            } else {
                size = (size + t->size - 1) / t->size * t->size;
                for (size_t i = 0; i < count; i++, size += t->size)
                    if (at)
                        put(t, value + 1, at + size);
            }
        }
        p += n;
    }
    return size;
}

static void print(options *o, const char *spec) {
    size_t n = strcspn(spec, ":");
    memory *m = find(o, spec, n);
    const struct type *t = spec[n] ? type_find(spec + n + 1, strlen(spec + n + 1)) : &types[8];
    if (!m || !t)
        stop(2, "--print wants NAME:TYPE", spec);
    printf("%.*s", (int)n, spec);
    for (size_t at = 0; at + t->size <= m->size; at += t->size) {
        float f;
        double d;
        uint64_t u = 0;
        memcpy(&u, m->at + at, t->size);
        if (t->real && t->size == 4) {
            memcpy(&f, m->at + at, 4);
            printf(" %.9g", (double)f);
        } else if (t->real) {
            memcpy(&d, m->at + at, 8);
            printf(" %.17g", d);
        } else if (t->name[0] == 'i') {
            unsigned shift = 64 - 8 * (unsigned)t->size;
            printf(" %" PRId64, (int64_t)(u << shift) >> shift);
        } else {
            printf(" %" PRIu64, u);
        }
    }
    printf("\n");
}

/* ---- options ---- */

static uint32_t number(const char *text) {
    return (uint32_t)strtoul(text, NULL, 0);
}

static void read_options(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        bool flag = true;
        if (strcmp(w, "--text") == 0)
            o->text = true;
        else if (strcmp(w, "--slots") == 0)
            o->slots = true;
        else if (strcmp(w, "--version") == 0)
            o->version = true;
        else if (strcmp(w, "--ios") == 0)
            o->msl.ios = true;
        else if (strcmp(w, "--argument-buffers") == 0)
            o->msl.argument_buffers = true;
        else
            flag = false;
        if (flag)
            continue;
        if (w[0] != '-') {
            if (o->module)
                stop(2, "one module at a time", w);
            o->module = w;
            continue;
        }
        if (++i == argc)
            stop(2, "something must follow", w);
        const char *v = argv[i], *eq = strchr(v, '=');
        bool pair = strcmp(w, "--memory") == 0 || strcmp(w, "--bind") == 0;
        if (pair && !eq)
            stop(2, "NAME=... is wanted after", w);
        if (strcmp(w, "--library") == 0) {
            o->library = v;
        } else if (strcmp(w, "--entry") == 0) {
            o->entry = v;
        } else if (strcmp(w, "--msl-version") == 0) {
            o->msl.version = number(v);
        } else if (strcmp(w, "--groups") == 0) {
            o->groups = number(v);
        } else if (strcmp(w, "--simd") == 0) {
            o->simd = number(v);
        } else if (strcmp(w, "--print") == 0) {
            RG_PUSH(arena, &o->prints, v);
        } else if (strcmp(w, "--memory") == 0) {
            memory m = {rg_strndup(arena, v, (size_t)(eq - v)), eq + 1, NULL, 0};
            RG_PUSH(arena, &o->memories, m);
        } else if (strcmp(w, "--bind") == 0) {
            bound b = {0, 0, eq + 1};
            const char *dot = memchr(v, '.', (size_t)(eq - v));
            if (strncmp(v, "push", 4) == 0) {
                b.set = UINT32_MAX;
            } else {
                b.set = dot ? number(v) : 0;
                b.binding = number(dot ? dot + 1 : v);
            }
            RG_PUSH(arena, &o->bounds, b);
        } else {
            stop(2, "unknown option", w);
        }
    }
    if (!o->module && !o->version)
        stop(2, "a SPIR-V module is wanted; see run_msl.py --help", NULL);
    o->run = o->bounds.n != 0;
}

static uint32_t *read_module(const char *path, size_t *count) {
    FILE *f = fopen(path, "rb");
    if (!f)
        stop(2, "cannot be read", path);
    RG_VEC(uint32_t) words = {0};
    uint32_t word;
    while (fread(&word, sizeof word, 1, f) == 1)
        RG_PUSH(arena, &words, word);
    fclose(f);
    *count = words.n;
    return words.at;
}

static void run(options *o, const rg_msl_source *s) {
    const char *why = NULL;
    msl_code *c = msl_code_new(arena, s, 1, &why);
    if (!c)
        stop(1, why, NULL);
    for (uint32_t i = 0; i < o->memories.n; i++) {
        memory *m = &o->memories.at[i];
        m->at = (unsigned char *)""; /* its address is not known yet, nor asked for */
        m->size = items(o, m, NULL);
        m->at = rg_alloc(arena, m->size + 16);
    }
    for (uint32_t i = 0; i < o->memories.n; i++)
        items(o, &o->memories.at[i], o->memories.at[i].at);
    enum { MOST = 64 };
    void *buffers[MOST] = {NULL};
    for (uint32_t i = 0; i < s->bindings.n; i++) {
        const rg_msl_binding *b = &s->bindings.at[i];
        const char *name = NULL;
        for (uint32_t k = 0; k < o->bounds.n; k++)
            if (o->bounds.at[k].set == b->set && o->bounds.at[k].binding == b->binding)
                name = o->bounds.at[k].name;
        memory *m = name ? find(o, name, strlen(name)) : NULL;
        if (!m)
            stop(2, rg_format(arena, "set %u binding %u is bound to nothing", b->set, b->binding),
                 name);
        if (o->msl.argument_buffers && b->set != UINT32_MAX) {
            /* The set's buffer holds a pointer for each of its bindings. */
            if (b->set >= MOST)
                stop(2, "too many sets", NULL);
            if (!buffers[b->set])
                buffers[b->set] = rg_alloc(arena, (s->bindings.n + 1) * sizeof(void *));
            ((void **)buffers[b->set])[b->at] = m->at;
        } else if (b->at < MOST) {
            buffers[b->at] = m->at;
        }
    }
    bool fine = msl_code_run(c, 0, buffers, o->groups, o->simd, &why);
    msl_code_free(c);
    if (!fine)
        stop(1, why, NULL);
    for (uint32_t i = 0; i < o->prints.n; i++)
        print(o, o->prints.at[i]);
}

int main(int argc, char **argv) {
    arena = rg_arena_new(NULL);
    if (!arena || RG_GUARD(arena))
        stop(1, "out of memory", NULL);
    options *o = RG_NEW(arena, options);
    o->groups = 1;
    o->simd = 32;
    read_options(o, argc, argv);
    const char *why = NULL;
    rg_msl *m = rg_msl_open(arena, o->library, &why);
    if (!m)
        stop(3, why, NULL);
    if (o->version)
        printf("%s\n", rg_msl_version(m));
    if (!o->module) {
        rg_msl_close(m);
        rg_arena_free(arena);
        return 0;
    }
    size_t count;
    const uint32_t *words = read_module(o->module, &count);
    rg_msl_source s;
    bool fine = rg_msl_translate(m, arena, words, count, o->entry, &o->msl, &s, &why);
    if (!fine)
        stop(1, why, NULL);
    if (o->text)
        fputs(s.text, stdout);
    if (o->slots)
        printf("slots=%u\n", s.slots);
    if (o->run)
        run(o, &s);
    rg_msl_close(m);
    rg_arena_free(arena);
    return 0;
}
