/* retrograd cache: where compiled kernels are kept, how much there is, and away with them. */
#include "json.h"
#include "session.h"

#include <string.h>

static const char *const actions[] = {"info", "clear", NULL};

static int run(const rg_cli_args *args) {
    rg_cli_args a = *args;
    const char *action = a.file;
    if (!action) {
        rg_cli_problem("cache wants 'info' or 'clear'");
    } else if (strcmp(action, "info") != 0 && strcmp(action, "clear") != 0) {
        const char *near = rg_cli_nearest(action, actions);
        rg_cli_problem("cache has no '%s': %s%s", action,
                       near ? "did you mean "
                            : "it has info "
                              "and clear",
                       near ? rg_cli_format("'%s'?", near) : "");
    }
    if (a.kernel || a.extra.n || a.values.n)
        rg_cli_problem("cache %s takes nothing else", action ? action : "");
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    rg_cli_session s;
    a.file = NULL;
    bool ok = rg_cli_session_open(&a, NULL, RG_CLI_HOST_ONLY, &s);
    bool clear = strcmp(action, "clear") == 0;
    rg_cache_info c = {.size = sizeof c};
    uint64_t removed = 0;
    rg_status st = RG_OK;
    if (ok)
        st = rg_cache_describe(s.ctx, &c);
    if (ok && st == RG_OK && clear)
        st = rg_cache_clear(s.ctx, &removed);
    if (st != RG_OK)
        rg_cli_session_fail(s.ctx, "cache", st);
    ok = ok && st == RG_OK;
    if (ok && a.json) {
        rg_json j = rg_json_open(stdout);
        rg_json_object(&j);
        rg_json_key(&j, "path");
        rg_json_string(&j, c.path);
        rg_json_key(&j, clear ? "removed" : "entries");
        rg_json_int(&j, (int64_t)(clear ? removed : c.entries));
        if (!clear) {
            rg_json_key(&j, "bytes");
            rg_json_int(&j, (int64_t)c.bytes);
        }
        rg_json_object_end(&j);
        rg_json_close(&j);
    } else if (ok && clear) {
        printf("removed %llu entries from %s\n", (unsigned long long)removed, c.path);
    } else if (ok) {
        printf("path     %s\nentries  %llu\nbytes    %llu\n", *c.path ? c.path : "(none)",
               (unsigned long long)c.entries, (unsigned long long)c.bytes);
    }
    rg_cli_session_close(&s);
    return ok ? RG_CLI_OK : RG_CLI_BAD;
}

const rg_cli_command rg_cmd_cache = {
    .name = "cache",
    .usage = "info|clear",
    .summary = "show or clear the cache of compiled kernels",
    .about = "info   prints the cache's folder, how many kernels it keeps, and their bytes.\n"
             "clear  removes them all. Nothing is lost but the time to compile again.\n"
             "\n"
             "The folder is $RETROGRAD_CACHE, else $XDG_CACHE_HOME/retrograd, else\n"
             "~/.cache/retrograd.",
    .examples = "  retrograd cache info\n  retrograd cache clear\n",
    .options = RG_OPT_BIT(JSON) | RG_OPT_BIT(HELP),
    .run = run,
};
