/* The front-end: kernels give the same bits as the C compiler makes of them, messages are as the
 * files in tests/errors say, and large programs compile fast. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ir/interp.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "lang/lang.h"
#include "opt/opt.h"

#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC optimize("fp-contract=off")
#endif
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wswitch"
#pragma GCC diagnostic ignored "-Wswitch-unreachable"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "lang_kernels.inc"
#pragma GCC diagnostic pop

typedef struct unit {
    rg_arena *arena;
    rg_sources *sources;
    rg_diags diags;
    rg_module *module;
} unit;

/* The folder `tests`, from wherever this runs: the repository, its build folder, or where the
 * compiler saw this file. */
static const char *tests_path(const char *name) {
    static char path[1024];
    static const char *const folders[] = {"tests", "../tests"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/unit/lang_kernels.inc", folders[i]);
        FILE *f = fopen(path, "rb");
        if (f) {
            fclose(f);
            snprintf(path, sizeof path, "%s/%s", folders[i], name);
            return path;
        }
    }
    const char *end = strstr(__FILE__, "unit/test_lang.c");
    snprintf(path, sizeof path, "%.*s%s", end ? (int)(end - &__FILE__[0]) : 0, __FILE__, name);
    return path;
}

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    *size = fread(text, 1, (size_t)n, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

static void compile(unit *u, const char *path, const char *text) {
    memset(u, 0, sizeof *u);
    u->arena = rg_arena_new(NULL);
    assert_non_null(u->arena);
    if (RG_GUARD(u->arena))
        fail_msg("%s", rg_arena_message(u->arena));
    u->sources = rg_sources_new(u->arena);
    u->diags.arena = u->arena;
    u->diags.sources = u->sources;
    u->module = rg_lang_compile(u->arena, u->sources, &u->diags, path, text, strlen(text), NULL);
}

static void verify(const rg_fn *f, const char *when) {
    rg_text why = {.arena = f->arena};
    if (!rg_ir_verify(f, &why))
        fail_msg("%s, %s: %s", f->name, when, rg_text_str(&why));
}

/* Same kernels, both ways */

enum { MOST = 9 };
typedef struct memory {
    int a[MOST];
    float x[MOST];
    double z[MOST];
    float y[MOST];
    double w[MOST];
    int c[MOST];
} memory;

static void fill_memory(memory *m, int n) {
    memset(m, 0, sizeof *m);
    for (int i = 0; i < n; i++) {
        m->a[i] = (i * 5 + n) % 9 - 3;
        m->x[i] = (float)((i * 37 + n * 11) % 41) / 20 - 1;
        m->z[i] = (double)((i * 29 + n * 7) % 31) / 15 - 1;
        m->y[i] = (float)i / 4;
        m->w[i] = -i;
        m->c[i] = i * i;
    }
}

typedef void kernel(int n, const int *a, const float *x, const double *z, float *y, double *w,
                    int *c);
static const struct {
    const char *name;
    kernel *f;
} kernels[] = {
#define K(name)                                                                                    \
    { #name, name }
    K(integers), K(reals), K(maths),     K(loops), K(jumps),  K(switches), K(structs),
    K(pointers), K(logic), K(constants), K(tasks), K(params), K(calls),    K(atomics),
#undef K
};

static void interpret(const rg_fn *f, int n, memory *m) {
    const int64_t extent = n;
    void *data[] = {m->a, m->x, m->z, m->y, m->w, m->c};
    rg_interp_array *arrays = calloc(f->arrays.n, sizeof *arrays);
    for (uint32_t i = 1; i < f->arrays.n; i++)
        if (f->arrays.at[i].kind == RG_ARR_PARAM)
            arrays[i] = (rg_interp_array){data[f->arrays.at[i].param - 1], &extent};
    const void *scalars[7] = {&n};
    rg_interp_args args = {.arrays = arrays, .scalars = scalars, .max_steps = 10000000};
    rg_text out = {.arena = f->arena};
    rg_loc loc = 0;
    if (!rg_interp(f, &args, &out, &loc))
        fail_msg("%s, n = %d: %s", f->name, n, rg_text_str(&out));
    free(arrays);
}

static void compare(const char *name, const char *how, int n, const memory *want,
                    const memory *got) {
    for (int i = 0; i < n; i++) {
        if (memcmp(&want->y[i], &got->y[i], sizeof(float)) != 0)
            fail_msg("%s %s, n = %d: y[%d] is %.9g, not %.9g", name, how, n, i, (double)got->y[i],
                     (double)want->y[i]);
        if (memcmp(&want->w[i], &got->w[i], sizeof(double)) != 0)
            fail_msg("%s %s, n = %d: w[%d] is %.17g, not %.17g", name, how, n, i, got->w[i],
                     want->w[i]);
        if (want->c[i] != got->c[i])
            fail_msg("%s %s, n = %d: c[%d] is %d, not %d", name, how, n, i, got->c[i], want->c[i]);
    }
}

static void same_as_c_compiler(void **state) {
    (void)state;
    size_t size;
    char *text = read_file(tests_path("unit/lang_kernels.inc"), &size);
    assert_non_null(text);
    unit u;
    compile(&u, "lang_kernels.inc", text);
    if (!u.module) {
        rg_text out = {.arena = u.arena};
        rg_diags_render(&u.diags, &out);
        fail_msg("%s", rg_text_str(&out));
    }
    assert_int_equal(u.module->kernels.n, sizeof kernels / sizeof *kernels);
    for (uint32_t k = 0; k < u.module->kernels.n; k++) {
        rg_fn *f = u.module->kernels.at[k];
        assert_string_equal(f->name, kernels[k].name);
        verify(f, "as lowered");
        rg_fn *ssa = rg_fn_clone(u.arena, f);
        rg_opt_ssa(ssa, NULL);
        verify(ssa, "as SSA");
        for (int n = 4; n <= MOST; n++) {
            memory want, got;
            fill_memory(&want, n);
            kernels[k].f(n, want.a, want.x, want.z, want.y, want.w, want.c);
            fill_memory(&got, n);
            interpret(f, n, &got);
            compare(f->name, "as lowered", n, &want, &got);
            fill_memory(&got, n);
            interpret(ssa, n, &got);
            compare(f->name, "as SSA", n, &want, &got);
        }
    }
    rg_arena_free(u.arena);
    free(text);
}

/* Messages: "expect: LINE:COL: SEVERITY: TEXT" in comments, in the order of the diagnostics */

static const char *next_expectation(const char *text, char *line, size_t size) {
    const char *at = strstr(text, "expect: ");
    if (!at)
        return NULL;
    at += strlen("expect: ");
    size_t n = strcspn(at, "\n");
    if (n >= 3 && !strncmp(at + n - 3, " */", 3))
        n -= 3;
    snprintf(line, size, "%.*s", (int)n, at);
    return at;
}

static void check_messages(const char *name) {
    char path[512], line[1024], got[1024];
    /* The expectations of one stand behind a NUL, the errors of the other come after the front-end:
     * tests/run.py has both. */
    if (strcmp(name, "nul_byte.c") == 0 || strcmp(name, "race_iterations.c") == 0)
        return;
    snprintf(path, sizeof path, "errors/%s", name);
    size_t size;
    char *text = read_file(tests_path(path), &size);
    assert_non_null(text);
    unit u;
    compile(&u, name, text);
    const char *at = text;
    uint32_t i = 0;
    while ((at = next_expectation(at, line, sizeof line))) {
        if (strncmp(line, "way out: ", 9) == 0) { /* of the diagnostic before */
            const char *hint = i ? u.diags.list.at[i - 1].hint : NULL;
            if (!hint || strcmp(hint, line + 9) != 0)
                fail_msg("%s:\n  expected %s\n  got      %s", name, line, hint ? hint : "none");
            continue;
        }
        if (strstr(line, ": note: "))
            continue; /* likewise */
        while (i < u.diags.list.n && u.diags.list.at[i].severity == RG_NOTE)
            i++;
        if (i == u.diags.list.n)
            fail_msg("%s: no diagnostic: %s", name, line);
        const rg_diag *d = &u.diags.list.at[i++];
        const rg_place *p = &u.sources->locs.at[d->loc];
        snprintf(got, sizeof got, "%u:%u: %s: %s", p->line, p->col,
                 d->severity == RG_ERROR ? "error" : "warning", d->message);
        if (strcmp(got, line) != 0)
            fail_msg("%s:\n  expected %s\n  got      %s", name, line, got);
    }
    for (; i < u.diags.list.n; i++)
        if (u.diags.list.at[i].severity != RG_NOTE)
            fail_msg("%s: unexpected at line %u: %s", name,
                     rg_sources_line(u.sources, u.diags.list.at[i].loc),
                     u.diags.list.at[i].message);
    assert_true(!u.module || !u.diags.errors);
    rg_arena_free(u.arena);
    free(text);
}

static void messages(void **state) {
    (void)state;
    DIR *dir = opendir(tests_path("errors"));
    assert_non_null(dir);
    uint32_t n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        if (len > 2 && !strcmp(e->d_name + len - 2, ".c")) {
            check_messages(e->d_name);
            n++;
        }
    }
    closedir(dir);
    assert_true(n >= 40);
}

static void large_program(void **state) {
    (void)state;
    enum { STATEMENTS = 20000 };
    char *text = malloc(STATEMENTS * 64 + 1000);
    char *p = text;
    p += sprintf(p, "void big(int n, const float x[n], float y[n]) {\n#pragma omp parallel for\n"
                    "for (int i = 0; i < n; i++) {\n float s = x[i], t = 0.5f;\n");
    for (int i = 0; i < STATEMENTS / 4; i++)
        p += sprintf(p, "s = s * 1.5f + t; t += s * x[(i + %d) %% n]; if (s > %d) { s -= 1; }\n", i,
                     i);
    sprintf(p, "y[i] = s + t; }}\n");
    unit u;
    clock_t start = clock();
    compile(&u, "big.c", text);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_non_null(u.module);
    verify(u.module->kernels.at[0], "as lowered");
    assert_true(seconds < 3); /* 0.1 s where nothing else runs and no sanitizer */
    rg_arena_free(u.arena);
    free(text);
}

/* Any bytes: an error at worst */
static void damaged_text(void **state) {
    (void)state;
    size_t size;
    char *text = read_file(tests_path("unit/lang_kernels.inc"), &size);
    assert_non_null(text);
    uint32_t seed = 1;
    char *copy = malloc(size + 1);
    for (int round = 0; round < 60; round++) {
        memcpy(copy, text, size + 1);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = (seed >> 4) % size;
            static const char noise[] = "(){}[];,*&+-=<>?:.#x0\n";
            copy[at] = noise[seed % (sizeof noise - 1)];
        }
        unit u;
        compile(&u, "damaged.c", copy);
        assert_true(u.module || u.diags.errors);
        rg_arena_free(u.arena);
    }
    free(copy);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_c_compiler),
        cmocka_unit_test(messages),
        cmocka_unit_test(large_program),
        cmocka_unit_test(damaged_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
