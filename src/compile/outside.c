/* The text goes in by standard input, under a line marker that names its file; Retrograd's standard
 * headers are written to a folder of this call's own, last on the search path. */
#include "compile/outside.h"

#include "compile/spawn.h"
#include "lang/builtin_headers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    bool ok = fputs(text, f) >= 0;
    return fclose(f) == 0 && ok;
}

static void remove_headers(const char *dir, char *const *paths, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        unlink(paths[i]);
    rmdir(dir);
}

static const char *run(rg_arena *a, rg_diags *d, const char *path, const char *text, size_t size,
                       const rg_compile_options *o, const char *headers, size_t *out_size) {
    rg_words w = {.list = {0}};
    rg_words_split(a, &w, o->cpp);
    if (!w.list.n) {
        rg_error(d, 0, "give a command, as 'cc -E -nostdinc'",
                 "the preprocessor's command is empty");
        return NULL;
    }
    rg_words_add(a, &w, "-D__RETROGRAD__=1");
    rg_words_add(a, &w, "-D_OPENMP=201511");
    for (uint32_t i = 0; i < o->n_defines; i++)
        rg_words_add(a, &w, rg_format(a, "-D%s", o->defines[i]));
    const char *slash = strrchr(path, '/');
    rg_words_add(a, &w, "-I");
    rg_words_add(a, &w, slash ? rg_strndup(a, path, (size_t)(slash - path) + 1) : ".");
    for (uint32_t i = 0; i < o->n_include_dirs; i++) {
        rg_words_add(a, &w, "-I");
        rg_words_add(a, &w, o->include_dirs[i]);
    }
    rg_words_add(a, &w, "-I");
    rg_words_add(a, &w, headers);
    rg_words_add(a, &w, "-x");
    rg_words_add(a, &w, "c");
    rg_words_add(a, &w, "-");
    rg_text in = {.arena = a};
    rg_text_add(&in, "# 1 \"");
    for (const char *p = path; *p; p++) {
        if (*p == '"' || *p == '\\')
            rg_text_char(&in, '\\');
        rg_text_char(&in, *p);
    }
    rg_text_add(&in, "\"\n");
    rg_text_add_n(&in, text, size);
    rg_spawned r;
    rg_spawn(a, &w, in.at, in.n, &r);
    if (r.error) {
        rg_error(d, 0, "name one that is installed, or leave it out: Retrograd has its own",
                 "cannot run the preprocessor '%s': %s", w.list.at[0], strerror(r.error));
        return NULL;
    }
    if (r.status != 0) {
        rg_error(d, 0, NULL, "the preprocessor '%s' failed with status %d:\n%s", o->cpp, r.status,
                 rg_text_str(&r.err));
        return NULL;
    }
    *out_size = r.out.n;
    return rg_text_str(&r.out);
}

const char *rg_outside_preprocess(rg_arena *a, rg_diags *d, const char *path, const char *text,
                                  size_t size, const rg_compile_options *o, size_t *out_size) {
    volatile uint32_t n = 0;
    while (rg_builtin_headers[n].name)
        n++;
    char **paths = RG_NEW_N(a, char *, n);
    const char *dir = rg_temp_folder(a, NULL);
    if (!dir) {
        rg_error(d, 0, "set TMPDIR to a folder that can be written to",
                 "cannot make a temporary folder: %s", strerror(errno));
        return NULL;
    }
    /* From here on nothing may leave without removing the folder. */
    jmp_buf outer;
    memcpy(&outer, rg_arena_guard(a), sizeof outer);
    volatile uint32_t made = 0;
    const char *volatile result = NULL;
    volatile int thrown = RG_GUARD(a);
    if (!thrown) {
        bool ok = true;
        for (; made < n && ok; made = made + 1) {
            paths[made] = rg_format(a, "%s/%s", dir, rg_builtin_headers[made].name);
            ok = write_file(paths[made], rg_builtin_headers[made].text);
        }
        if (ok)
            result = run(a, d, path, text, size, o, dir, out_size);
        else
            rg_error(d, 0, NULL, "cannot write to the temporary folder '%s'", dir);
    }
    remove_headers(dir, paths, made);
    memcpy(rg_arena_guard(a), &outer, sizeof outer);
    if (thrown)
        rg_arena_throw(a, thrown);
    return result;
}
