/* Everything is made before anything is written: a refused kernel leaves no half a file. */
#include "text_out.h"

#include "binding.h"
#include "progress.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const bool *rg_cli_active(rg_kernel *k, rg_context *ctx, const char *names, bool only) {
    rg_cli_binding b;
    if (!names || !rg_cli_binding_new(k, ctx, &b))
        return NULL;
    bool *active = rg_cli_alloc(b.n, sizeof *active);
    for (const char *s = names; *s;) {
        size_t n = strcspn(s, ",");
        const char *name = rg_cli_strndup(s, n);
        rg_cli_param *p = rg_cli_binding_find(&b, name);
        if (!p && only)
            rg_cli_binding_unknown(&b, name);
        else if (p && !p->info.has_float)
            rg_cli_problem("--active: '%s' is %s, which carries no gradient", name,
                           rg_cli_param_text(p));
        else if (p)
            active[p->index] = true;
        s += n + (s[n] == ',');
    }
    rg_cli_binding_free(&b);
    return active;
}

static bool write_all(const char *path, char *const *texts, const size_t *lengths, size_t n,
                      bool binary) {
    bool to_file = path && strcmp(path, "-") != 0;
    if (binary && !to_file && isatty(STDOUT_FILENO)) {
        rg_cli_problem("SPIR-V is binary: name a file with -o PATH");
        return false;
    }
    FILE *f = to_file ? fopen(path, binary ? "wb" : "w") : stdout;
    bool ok = f != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        size_t length = lengths[i];
        ok = fwrite(texts[i], 1, length, f) == length;
        if (binary)
            continue;
        if (ok && length && texts[i][length - 1] != '\n')
            ok = fputc('\n', f) != EOF;
        if (ok && i + 1 < n)
            ok = fputc('\n', f) != EOF;
    }
    if (ok)
        ok = fflush(f) == 0;
    int why = errno;
    if (f && to_file)
        ok = fclose(f) == 0 && ok;
    if (!ok)
        rg_cli_problem("%s: %s", to_file ? path : "standard output", strerror(why));
    return ok;
}

int rg_cli_text_out(const rg_cli_args *a, rg_target target, rg_kernel_mode mode) {
    rg_cli_session s;
    rg_kernel **kernels;
    size_t n = 0, made = 0;
    bool ok = rg_cli_session_open(a, NULL, RG_CLI_HOST_ONLY, &s) &&
              rg_cli_session_kernels(&s, a->kernel, &kernels, &n);
    char **texts = rg_cli_alloc(n, sizeof *texts);
    size_t *lengths = rg_cli_alloc(n, sizeof *lengths);
    bool binary = target == RG_TARGET_SPIRV;
    if (ok && binary && n > 1)
        rg_cli_problem("SPIR-V is a module for one kernel: name one with --kernel");
    rg_emit_options *e = rg_cli_alloc(n, sizeof *e);
    for (size_t i = 0; ok && i < n; i++) {
        e[i] = (rg_emit_options){.size = sizeof e[i],
                                 .mode = mode,
                                 .target = target,
                                 .addressing = a->addressing,
                                 .length = &lengths[i]};
        e[i].active = rg_cli_active(kernels[i], s.ctx, a->active, n == 1);
        ok = !rg_cli_problem_count();
    }
    bool one_file = target == RG_TARGET_C && n > 1;
    for (size_t i = 0; ok && i < (one_file ? 1 : n); i++) {
        rg_cli_progress("compiling %s", one_file ? a->file : rg_kernel_name(kernels[i]));
        rg_status st = one_file ? rg_kernels_emit(kernels, e, n, &texts[0])
                                : rg_kernel_emit(kernels[i], &e[i], &texts[i]);
        rg_cli_progress(NULL);
        ok = st == RG_OK;
        made += ok;
        if (!ok)
            rg_cli_session_fail(s.ctx, one_file ? NULL : rg_kernel_name(kernels[i]), st);
    }
    ok = ok && write_all(a->output, texts, lengths, made, binary);
    for (size_t i = 0; i < made; i++)
        rg_free(s.ctx, texts[i]);
    rg_cli_session_close(&s);
    return ok ? RG_CLI_OK : RG_CLI_BAD;
}
