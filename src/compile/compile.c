/* preprocess -> parse -> check -> lower (lang)  ->  SSA  ->  optimised primals
 *
 * Everything of a unit lives in one arena, freed at once. What the key is made of is hashed on the
 * way: the text, each file that #include reads, the options and Retrograd's version. */
#include "compile/version.h"

#include "compile/compile.h"

#include "ad/ad.h"
#include "compile/debug.h"
#include "compile/explain.h"
#include "compile/key.h"
#include "compile/outside.h"
#include "compile/race.h"
#include "lang/lang.h"
#include "opt/opt.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For rg_preprocess: reads a file and adds it to the key. */
static const char *read_file(void *user, rg_arena *a, const char *path, size_t *size) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
        return NULL;
    size_t n = (size_t)st.st_size, got = 0;
    char *text = rg_alloc(a, n + 1); /* before opening: it may throw */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    while (got < n) {
        ssize_t k = read(fd, text + got, n - got);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            break;
        got += (size_t)k;
    }
    close(fd);
    *size = got;
    rg_sha256_add_text(user, path);
    rg_sha256_add_part(user, text, got);
    return text;
}

static void compile(rg_unit *u, const char *path, const char *text, size_t size,
                    const rg_compile_options *o) {
    rg_sha256 key;
    rg_sha256_begin(&key);
    rg_sha256_add_text(&key, "retrograd " RG_VERSION_TEXT);
    rg_sha256_add_text(&key, path);
    rg_sha256_add_part(&key, text, size);
    rg_sha256_add_text(&key, o->cpp);
    for (uint32_t i = 0; i < o->n_defines; i++)
        rg_sha256_add_text(&key, o->defines[i]);
    rg_sha256_add(&key, o->strict_edges ? "s" : "-", 1);
    rg_preprocess_options p = {.defines = o->defines,
                               .n_defines = o->n_defines,
                               .include_dirs = o->include_dirs,
                               .n_include_dirs = o->n_include_dirs,
                               .read = read_file,
                               .user = &key};
    if (o->cpp) {
        text = rg_outside_preprocess(u->arena, &u->diags, path, text, size, o, &size);
        if (!text)
            return;
        rg_sha256_add_part(&key, text, size);
        p.already_preprocessed = true;
    }
    u->module = rg_lang_compile(u->arena, u->sources, &u->diags, path, text, size, &p);
    unsigned char sum[32];
    rg_sha256_end(&key, sum);
    memcpy(u->key, sum, sizeof u->key);
    if (!u->module)
        return;
    rg_opt_options opt = rg_debug_opt();
    u->marked = RG_NEW_N(u->arena, rg_fn *, u->module->kernels.n + 1);
    u->early = RG_NEW_N(u->arena, rg_early, u->module->kernels.n + 1);
    for (uint32_t i = 0; i < u->module->kernels.n; i++) {
        rg_fn *f = u->module->kernels.at[i];
        rg_debug_stage(f, "lang");
        if (f->adjoint) {
            rg_ad_unmark(f->adjoint);
            rg_opt_ssa(f->adjoint, &opt);
            rg_race_check(f->adjoint, &u->diags);
            rg_opt_run(f->adjoint, &opt);
        }
        rg_fn *marked = rg_fn_clone(u->arena, f);
        if (rg_ad_unmark(f)) {
            rg_opt_run(marked, &opt);
            u->marked[i] = marked;
        }
        rg_opt_ssa(f, &opt);
        rg_debug_stage(f, "ssa");
        rg_race_check(f, &u->diags);
        rg_explain_early(u->arena, f, &u->early[i]);
        rg_opt_run(f, &opt);
        rg_debug_stage(f, "primal");
    }
}

rg_compile_status rg_unit_compile(const rg_allocator *al, const char *path, const char *text,
                                  size_t size, const rg_compile_options *o, rg_unit **out) {
    static const rg_compile_options none = {0};
    *out = NULL;
    rg_arena *a = rg_arena_new(al);
    if (!a)
        return RG_COMPILE_MEMORY;
    rg_unit *volatile u = NULL;
    int thrown = RG_GUARD(a);
    if (!thrown) {
        u = RG_NEW(a, rg_unit);
        u->arena = a;
        u->sources = rg_sources_new(a);
        u->diags.arena = a;
        u->diags.sources = u->sources;
        u->strict_edges = o && o->strict_edges;
        /* Diagnostics of variants show source lines long after the caller's text is gone. */
        char *own = rg_alloc(a, size + 1);
        if (size)
            memcpy(own, text, size);
        compile(u, rg_strdup(a, path), own, size, o ? o : &none);
    }
    if (!u || thrown == RG_THROW_MEMORY) {
        rg_arena_free(a);
        return RG_COMPILE_MEMORY;
    }
    *out = u;
    if (thrown == RG_THROW_INTERNAL)
        return RG_COMPILE_INTERNAL;
    if (thrown || u->diags.errors)
        return RG_COMPILE_ERRORS;
    return u->module ? RG_COMPILED : RG_COMPILE_INTERNAL;
}

void rg_unit_free(rg_unit *u) {
    if (u)
        rg_arena_free(u->arena);
}
