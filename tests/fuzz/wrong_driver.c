/* Loads kernel files that are mostly wrong, one after another, and says what became of each.
 *
 * The manifest has a path on each line. What is accepted is taken through the whole compiler:
 * the adjoint and the tangent as C, the adjoint as SPIR-V, and explain. On stdout:
 *
 *     begin PATH
 *     accepted MILLISECONDS MEGABYTES
 *     STATUS MILLISECONDS MEGABYTES BYTES      followed by BYTES of message and a newline
 *
 * The library's memory is counted; more than FUZZ_MEGABYTES is refused to it, which shows as the
 * status `memory`. A file that takes longer than FUZZ_SECONDS ends the program by SIGALRM: whoever
 * reads the output knows which one it was, and starts again behind it. */
#include "retrograd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t used, peak, limit;

static void *counted(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    if (size > old_size && used + (size - old_size) > limit) {
        peak = limit;
        return NULL;
    }
    void *p = size ? realloc(old, size) : NULL;
    if (size == 0)
        free(old);
    if (size && !p)
        return NULL;
    used += size - old_size;
    if (used > peak)
        peak = used;
    return p;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double number(const char *name, double otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtod(s, NULL) : otherwise;
}

static rg_status emit(rg_kernel *k, rg_kernel_mode mode, rg_target target, rg_context *ctx) {
    rg_emit_options o = {.size = sizeof o, .mode = mode, .target = target};
    char *text = NULL;
    rg_status st = rg_kernel_emit(k, &o, &text);
    rg_free(ctx, text);
    return st;
}

/* Everything that can be made of a file without running it. */
static rg_status compile(rg_context *ctx, const char *path) {
    static const struct {
        rg_kernel_mode mode;
        rg_target target;
    } wanted[] = {{RG_MODE_ADJOINT, RG_TARGET_CPU},
                  {RG_MODE_ADJOINT, RG_TARGET_EXPLAIN},
                  {RG_MODE_TANGENT, RG_TARGET_CPU},
                  {RG_MODE_ADJOINT, RG_TARGET_C},
                  {RG_MODE_ADJOINT, RG_TARGET_SPIRV}};
    rg_module *m = NULL;
    rg_status st = rg_module_load_host(ctx, path, NULL, &m);
    for (size_t i = 0; st == RG_OK && i < rg_module_kernel_count(m); i++)
        for (size_t w = 0; st == RG_OK && w < sizeof wanted / sizeof wanted[0]; w++) {
            rg_kernel *k = rg_module_kernel_at(m, i);
            st = emit(k, wanted[w].mode, wanted[w].target, ctx);
        }
    if (m)
        rg_module_release(m);
    return st;
}

int main(int argc, char **argv) {
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!f) {
        fprintf(stderr, "usage: wrong_driver MANIFEST\n");
        return 2;
    }
    limit = (size_t)(number("FUZZ_MEGABYTES", 1024) * 1048576);
    unsigned seconds = (unsigned)number("FUZZ_SECONDS", 20);
    char path[4096];
    while (fgets(path, sizeof path, f)) {
        path[strcspn(path, "\n")] = '\0';
        printf("begin %s\n", path);
        fflush(stdout);
        alarm(seconds);
        used = peak = 0;
        double start = now();
        rg_context_options o = {.size = sizeof o, .resize = counted, .cache_dir = ""};
        rg_context *ctx = NULL;
        rg_status st = rg_context_new(&o, &ctx);
        if (st == RG_OK)
            st = compile(ctx, path);
        double ms = (now() - start) * 1000, mb = (double)peak / 1048576;
        if (st == RG_OK) {
            printf("accepted %.1f %.1f\n", ms, mb);
        } else {
            const char *words = ctx ? rg_context_message(ctx) : "no context";
            printf("%s %.1f %.1f %zu\n%s\n", rg_status_name(st), ms, mb, strlen(words), words);
        }
        if (ctx)
            rg_context_release(ctx);
        if (used) {
            printf("leaked %zu bytes\n", used);
            return 3;
        }
        fflush(stdout);
    }
    fclose(f);
    return 0;
}
