/* Nothing here decides anything: options are handed on, errors are printed. */
#include "session.h"

#include "progress.h"

#include <string.h>

void rg_cli_session_fail(const rg_context *ctx, const char *what, rg_status s) {
    const char *m = ctx ? rg_context_message(ctx) : "";
    fflush(stdout);
    rg_cli_progress(NULL);
    if (!m || !*m)
        m = s == RG_ERROR_MEMORY ? "out of memory" : rg_status_name(s);
    const char *line_end = strchr(m, '\n');
    bool placed = s == RG_ERROR_SOURCE || s == RG_ERROR_REFUSED || line_end;
    size_t n = strlen(m);
    const char *newline = n && m[n - 1] == '\n' ? "" : "\n";
    if (placed)
        fprintf(stderr, "%s%s", m, newline);
    else if (what)
        fprintf(stderr, "retrograd: %s: %s%s", what, m, newline);
    else
        fprintf(stderr, "retrograd: %s%s", m, newline);
}

bool rg_cli_session_open(const rg_cli_args *a, const char *device, int flags, rg_cli_session *out) {
    memset(out, 0, sizeof *out);
    rg_context_options co = {.size = sizeof co, .cache_dir = flags & RG_CLI_NO_CACHE ? "" : NULL};
    rg_status st = rg_context_new(&co, &out->ctx);
    if (st != RG_OK) {
        rg_cli_session_fail(NULL, "cannot start", st);
        return false;
    }
    const char *name = device ? device : a->device ? a->device : "cpu";
    if (!(flags & RG_CLI_HOST_ONLY)) {
        rg_device_options d = {.size = sizeof d,
                               .threads = a->threads,
                               .checked = a->checked || (flags & RG_CLI_CHECKED),
                               .races = (flags & RG_CLI_RACES) != 0};
        rg_cli_progress("opening device %s", name);
        st = rg_device_open(out->ctx, name, &d, &out->dev);
        if (st == RG_ERROR_UNSUPPORTED && (flags & RG_CLI_CHECKED) && !a->checked) {
            d.checked = d.races = false;
            out->unchecked = true; /* `check` on a graphics card: bounds are `ref`'s to find */
            st = rg_device_open(out->ctx, name, &d, &out->dev);
        }
        if (st != RG_OK) {
            rg_cli_session_fail(out->ctx, rg_cli_format("device '%s'", name), st);
            return false;
        }
    }
    if (!a->file)
        return true;
    rg_module_options m = {.size = sizeof m,
                           .defines = a->defines.at,
                           .n_defines = a->defines.n,
                           .include_dirs = a->includes.at,
                           .n_include_dirs = a->includes.n,
                           .cpp = a->cpp,
                           .strict_edges = a->strict_edges,
                           .tape_memory = a->tape_memory};
    rg_cli_progress("compiling %s", a->file);
    st = out->dev ? rg_module_load(out->dev, a->file, &m, &out->mod)
                  : rg_module_load_host(out->ctx, a->file, &m, &out->mod);
    rg_cli_progress(NULL);
    if (st != RG_OK) {
        rg_cli_session_fail(out->ctx, NULL, st);
        return false;
    }
    return true;
}

void rg_cli_session_close(rg_cli_session *s) {
    rg_cli_progress(NULL);
    if (s->mod)
        rg_module_release(s->mod);
    if (s->dev)
        rg_device_release(s->dev);
    if (s->ctx)
        rg_context_release(s->ctx);
    memset(s, 0, sizeof *s);
}

bool rg_cli_session_kernels(const rg_cli_session *s, const char *name, rg_kernel ***out,
                            size_t *n) {
    size_t count = rg_module_kernel_count(s->mod);
    rg_kernel **list = rg_cli_alloc(count + 1, sizeof *list);
    const char **names = rg_cli_alloc(count + 1, sizeof *names);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        rg_kernel *k = rg_module_kernel_at(s->mod, i);
        names[i] = rg_kernel_name(k);
        if (!name || strcmp(name, names[i]) == 0)
            list[(*n)++] = k;
    }
    *out = list;
    if (*n)
        return true;
    if (!count) {
        rg_cli_problem("the file has no kernel: a kernel is a function that returns void and is "
                       "not static");
        return false;
    }
    const char *near = rg_cli_nearest(name, names);
    if (near) {
        rg_cli_problem("there is no kernel '%s': did you mean '%s'?", name, near);
        return false;
    }
    char *all = rg_cli_strdup(names[0]);
    for (size_t i = 1; i < count && i < 20; i++)
        all = rg_cli_format("%s, %s", all, names[i]);
    rg_cli_problem("there is no kernel '%s': the file has %s%s", name, all,
                   count > 20 ? ", ..." : "");
    return false;
}
