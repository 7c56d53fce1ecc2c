/* The SPIR-V emitter: every kernel of tests/kernels, primal, adjoint and tangent, in float and in
 * double, in address and in offset mode, and on devices that lack things, is emitted and given to
 * spirv-val, before and after spirv-opt -O. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <unistd.h>

#include "compile/compile.h"
#include "emit/spirv/emit_spirv.h"

static char folder[] = "/tmp/rg_spirv_XXXXXX";
static bool have_val, have_opt;

typedef struct config {
    const char *name, *env;
    rg_spirv_caps caps;
    bool index64;
} config;

#define EVERY_TYPE .f64 = true, .i64 = true, .i16 = true, .i8 = true, .i64_atomics = true

static const config configs[] = {
    {"address",
     "vulkan1.2",
     {.version = 0x00010300, .addressing = RG_SPIRV_ADDRESS, EVERY_TYPE, .workgroup = 64},
     false},
    {"address-full",
     "vulkan1.2",
     {.version = 0x00010500,
      .addressing = RG_SPIRV_ADDRESS,
      EVERY_TYPE,
      .atomic_f32_add = true,
      .atomic_f64_add = true,
      .subgroup_add = true,
      .signed_zero_inf_nan = true,
      .workgroup = 256},
     true},
    {"address-bare",
     "vulkan1.2",
     {.version = 0x00010300, .addressing = RG_SPIRV_ADDRESS, .workgroup = 48},
     false},
    {"offset",
     "vulkan1.1",
     {.version = 0x00010300,
      .addressing = RG_SPIRV_OFFSET,
      EVERY_TYPE,
      .atomic_f32_add = true,
      .workgroup = 64},
     false},
    {"offset-bare",
     "vulkan1.1",
     {.version = 0x00010300, .addressing = RG_SPIRV_OFFSET, .workgroup = 64},
     false},
    {"address-early",
     "vulkan1.2",
     {.version = 0x00010500,
      .addressing = RG_SPIRV_ADDRESS,
      EVERY_TYPE,
      .atomic_f32_add = true,
      .subgroup_add = true,
      .signed_zero_inf_nan = true,
      .loops_end_early = true,
      .hide_literals = true,
      .workgroup = 256},
     false},
    {"offset-64",
     "vulkan1.1",
     {.version = 0x00010300,
      .addressing = RG_SPIRV_OFFSET,
      .f64 = true,
      .i64 = true,
      .i64_atomics = true,
      .subgroup_add = true,
      .hide_literals = true,
      .workgroup = 128},
     true},
};
enum { N_CONFIGS = sizeof configs / sizeof *configs };

static uint32_t emitted, refused, compiled;

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    *size = text ? fread(text, 1, (size_t)n, f) : 0;
    fclose(f);
    if (text)
        text[*size] = '\0';
    return text;
}

static void emit_config(const rg_fn *f, rg_unit *u, const char *stem, int k, FILE *script) {
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    int thrown = RG_GUARD(a);
    if (thrown)
        fail_msg("%s (%s): thrown %d: %s", stem, configs[k].name, thrown,
                 rg_arena_message(a) ? rg_arena_message(a) : "");
    rg_diags d = {.arena = a, .sources = u->sources};
    rg_task_plan *plan = rg_tasks_plan(a, f);
    rg_spirv_options o = {.caps = configs[k].caps, .index64 = configs[k].index64};
    rg_spirv_module *m = rg_emit_spirv(a, f, plan, &o, &d);
    if (!m) {
        bool bare = !configs[k].caps.i64 || !configs[k].caps.f64;
        rg_text t = {.arena = a};
        rg_diags_render(&d, &t);
        if (getenv("RG_VERBOSE"))
            printf("%s (%s): %s", stem, configs[k].name, rg_text_str(&t));
        if (!bare || !d.errors)
            fail_msg("%s (%s) was refused: %s", stem, configs[k].name, rg_text_str(&t));
        refused++;
    } else if (plan->tasks.n) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.%s.spv", folder, stem, configs[k].name);
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        fwrite(m->words, 4, m->count, out);
        fclose(out);
        /* Every module is emitted; the validator takes one in two, other ones in each
         * configuration, unless all are asked for: they take minutes. */
        if (getenv("RETROGRAD_TEST_ALL") || emitted % 2 == 0)
            fprintf(script, "%s.%s.spv\n", stem, configs[k].name);
        emitted++;
    }
    rg_arena_free(a);
}

static void emit_file(const char *dir, const char *name, bool is_double, FILE *script[N_CONFIGS]) {
    static const char *const defines[] = {"REAL=double"};
    char path[512];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    char *text = read_file(path, &size);
    assert_non_null(text);
    rg_compile_options o = {.defines = defines, .n_defines = is_double ? 1 : 0};
    rg_unit *u = NULL;
    rg_compile_status s = rg_unit_compile(NULL, path, text, size, &o, &u);
    if (s != RG_COMPILED)
        fail_msg("%s does not compile", path);
    for (uint32_t k = 0; k < u->module->kernels.n; k++) {
        const rg_fn *f = u->module->kernels.at[k];
        uint8_t active[256] = {0};
        rg_activity act = {.nparams = f->params.n, .active = active};
        for (uint32_t p = 0; p < f->params.n && p < 256; p++)
            active[p] = rg_elem_has_float(f->params.at[p].elem);
        for (rg_mode mode = RG_PRIMAL; mode <= RG_ADJOINT; mode++) {
            rg_variant *v = NULL;
            s = rg_variant_build(u, k, mode, &act, NULL, NULL, &v);
            if (s == RG_COMPILED && v->fn) {
                char stem[300];
                compiled++;
                snprintf(stem, sizeof stem, "%.*s.%s.%s.%s", (int)strlen(name) - 2, name, f->name,
                         rg_mode_name(mode), is_double ? "f64" : "f32");
                for (int c = 0; c < N_CONFIGS; c++)
                    emit_config(v->fn, u, stem, c, script[c]);
            }
            rg_variant_free(v);
        }
    }
    rg_unit_free(u);
    free(text);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void test_emit_all(void **state) {
    (void)state;
    const char *dir = getenv("RG_KERNELS");
    if (!dir)
        dir = access("tests/kernels", R_OK) == 0 ? "tests/kernels" : "../tests/kernels";
    DIR *d = opendir(dir);
    if (!d)
        skip();
    FILE *script[N_CONFIGS];
    for (int k = 0; k < N_CONFIGS; k++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s.list", folder, configs[k].name);
        script[k] = fopen(path, "w");
        assert_non_null(script[k]);
    }
    char *names[1000];
    int n = 0;
    for (struct dirent *e = readdir(d); e && n < 1000; e = readdir(d)) {
        size_t len = strlen(e->d_name);
        const char *only = getenv("RG_ONLY");
        if (len > 2 && strcmp(e->d_name + len - 2, ".c") == 0 &&
            (!only || strstr(e->d_name, only))) {
            names[n] = malloc(len + 1);
            assert_non_null(names[n]);
            memcpy(names[n++], e->d_name, len + 1);
        }
    }
    closedir(d);
    qsort(names, (size_t)n, sizeof *names, compare_names);
    for (int k = 0; k < n; k++) {
        emit_file(dir, names[k], false, script);
        emit_file(dir, names[k], true, script);
        free(names[k]);
    }
    for (int k = 0; k < N_CONFIGS; k++)
        fclose(script[k]);
    printf("%u variants, %u modules emitted, %u refused for want of a feature\n", compiled, emitted,
           refused);
    assert_true(emitted > 0);
}

/* A kernel with a thousand arrays, each with a gradient, of every type of element: emitted in both
 * modes, with one binding for the arguments and no more than one for each width of words. */
static void test_many_arrays(void **state) {
    (void)state;
    static const char *const types[] = {"float", "double", "int8_t", "uint16_t", "int64_t", "item"};
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    if (RG_GUARD(a))
        fail_msg("%s", rg_arena_message(a) ? rg_arena_message(a) : "thrown");
    rg_text t = {.arena = a};
    rg_text_add(&t,
                "#include <stdint.h>\ntypedef struct { float w; int8_t k; double v[2]; } item;\n"
                "void many(int n");
    for (int k = 0; k < 1000; k++)
        rg_text_format(&t, ", const %s a%d[n]", types[k % 6], k);
    rg_text_add(&t, ", float y[n]) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n");
    for (int k = 0; k < 1000; k++)
        rg_text_format(&t, "y[i] += (float)a%d[i]%s;\n", k,
                       k % 6 == 5 ? ".w * 2 + (float)a5[i].v[i % 2]" : "");
    rg_text_add(&t, "}\n}\n");
    rg_compile_options co = {.n_defines = 0};
    rg_unit *u = NULL;
    rg_compile_status s =
        rg_unit_compile(NULL, "many.c", rg_text_str(&t), strlen(rg_text_str(&t)), &co, &u);
    assert_int_equal(s, RG_COMPILED);
    uint8_t active[1002];
    memset(active, 1, sizeof active);
    const rg_fn *f = u->module->kernels.at[0];
    for (uint32_t p = 0; p < f->params.n; p++)
        active[p] = f->params.at[p].is_array && rg_elem_has_float(f->params.at[p].elem);
    rg_activity act = {.nparams = f->params.n, .active = active};
    rg_variant *v = NULL;
    s = rg_variant_build(u, 0, RG_ADJOINT, &act, NULL, NULL, &v);
    assert_int_equal(s, RG_COMPILED);
    for (int k = 0; k < N_CONFIGS; k++) {
        if (!configs[k].caps.f64)
            continue;
        rg_diags d = {.arena = a, .sources = u->sources};
        rg_task_plan *plan = rg_tasks_plan(a, v->fn);
        rg_spirv_options o = {.caps = configs[k].caps, .index64 = configs[k].index64};
        rg_spirv_module *m = rg_emit_spirv(a, v->fn, plan, &o, &d);
        assert_non_null(m);
        for (uint32_t q = 0; q < plan->tasks.n; q++) {
            int bindings = 0;
            for (int b = 0; b < 64; b++)
                bindings += (int)(m->bindings[4 * q] >> b & 1);
            assert_true(bindings <= (configs[k].caps.addressing == RG_SPIRV_ADDRESS ? 1 : 5));
        }
        char path[256];
        snprintf(path, sizeof path, "%s/%s.list", folder, configs[k].name);
        FILE *list = fopen(path, "a");
        assert_non_null(list);
        fprintf(list, "many.%s.spv\n", configs[k].name);
        fclose(list);
        snprintf(path, sizeof path, "%s/many.%s.spv", folder, configs[k].name);
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        fwrite(m->words, 4, m->count, out);
        fclose(out);
    }
    rg_variant_free(v);
    rg_unit_free(u);
    rg_arena_free(a);
}

/* Runs `body` for each module of configuration k; the shell prints what fails. */
static void run_tool(int k, const char *body) {
    char command[1024], line[512];
    snprintf(command, sizeof command,
             "cd %s && xargs -a %s.list -r -n 1 -P 2 sh -c '%s >\"$0.log\" 2>&1 || { echo \"$0: "
             "$(head -n 2 \"$0.log\" | tr \"\\n\" \" \")\"; }' 2>&1",
             folder, configs[k].name, body);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    int failed = 0;
    while (fgets(line, sizeof line, p))
        if (failed++ < 20)
            print_error("%s", line);
    pclose(p);
    if (failed)
        fail_msg("%d modules of %s failed", failed, configs[k].name);
}

static void test_valid(void **state) {
    (void)state;
    if (!have_val) {
        print_message("spirv-val is not there: modules are emitted but not validated\n");
        skip();
    }
    for (int k = 0; k < N_CONFIGS; k++) {
        char body[256];
        snprintf(body, sizeof body, "spirv-val --target-env %s \"$0\"", configs[k].env);
        run_tool(k, body);
    }
}

static void test_valid_optimised(void **state) {
    (void)state;
    if (!have_val || !have_opt) {
        print_message("spirv-opt is not there\n");
        skip();
    }
    /* Optimising takes most of the time: half of the configurations say as much. */
    for (int k = 0; k < N_CONFIGS; k += 3) {
        char body[256];
        snprintf(body, sizeof body,
                 "spirv-opt --target-env=%s -O \"$0\" -o \"$0.opt\" && spirv-val --target-env %s "
                 "\"$0.opt\"",
                 configs[k].env, configs[k].env);
        run_tool(k, body);
    }
}

static int setup(void **state) {
    (void)state;
    have_val = system("command -v spirv-val >/dev/null 2>&1") == 0;
    have_opt = system("command -v spirv-opt >/dev/null 2>&1") == 0;
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (getenv("RG_KEEP"))
        print_message("kept %s\n", folder);
    else if (system(command))
        return -1;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emit_all),
        cmocka_unit_test(test_many_arrays),
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_valid_optimised),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
