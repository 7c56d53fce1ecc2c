#include "compile/debug.h"

#include "ir/print.h"
#include "ir/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const help[][2] = {
    {"lang", "the IR as the front-end makes it"},
    {"ssa", "after locals became values"},
    {"primal", "each kernel, optimised"},
    {"ad", "a tangent or adjoint as differentiation makes it"},
    {"final", "each variant, ready to be emitted"},
    {"passes", "after every pass that changed something; or a pass by its name"},
    {"cpu", "the C text that the cpu device compiles"},
    {"verify", "check the IR's rules after every pass (always in debug builds)"},
    {"hash", "backward launches find changes of wrapped memory without rg_array_touch"},
    {"alone", "records keep no results of reductions and atomic sums, as when they are too large"},
    {"split", "the cpu device splits every parallel loop among its threads, however short"},
    {"print-read", "print, read back and compare after every pass"},
};

/* Is `name` one of the words, separated by commas, of RETROGRAD_DEBUG? */
bool rg_debug_asked(const char *name) {
    const char *p = getenv("RETROGRAD_DEBUG");
    size_t n = strlen(name);
    while (p && *p) {
        size_t k = strcspn(p, ", ");
        if (k == n && memcmp(p, name, n) == 0)
            return true;
        p += k + (p[k] != 0);
    }
    return false;
}

static bool is_stage(const char *name) {
    for (int i = 0; i < 5; i++)
        if (strcmp(help[i][0], name) == 0)
            return true;
    return false;
}

/* The module's text with f as its only kernel. */
static const char *print(rg_arena *a, const rg_fn *f) {
    rg_ir_module m = {.arena = a, .sources = f->module->sources};
    m.structs.at = f->module->structs.at;
    m.structs.n = m.structs.cap = f->module->structs.n;
    rg_fn *one[1] = {(rg_fn *)(uintptr_t)f};
    m.kernels.at = one;
    m.kernels.n = m.kernels.cap = 1;
    rg_text t = {.arena = a};
    rg_ir_print_module(&m, &t);
    return rg_text_str(&t);
}

/* Words for what is wrong, in a; NULL: nothing. */
static const char *check(rg_arena *a, const rg_fn *f, bool verify, bool print_read) {
    rg_text t = {.arena = a};
    if (verify && !rg_ir_verify(f, &t))
        return rg_text_str(&t);
    if (!print_read)
        return NULL;
    const char *first = print(a, f);
    rg_diags d = {.arena = a, .sources = rg_sources_new(a)};
    rg_ir_module *again = rg_ir_read(a, &d, "printed", first, strlen(first));
    if (!again) {
        rg_diags_render(&d, &t);
        return rg_format(a, "does not read back: %s", rg_text_str(&t));
    }
    rg_ir_print_module(again, &t);
    if (strcmp(first, rg_text_str(&t)) != 0)
        return rg_format(a, "reads back as something else:\n%s\n-- was --\n%s", rg_text_str(&t),
                         first);
    return NULL;
}

void rg_debug_stage(rg_fn *f, const char *name) {
    const char *env = getenv("RETROGRAD_DEBUG");
#ifdef RG_DEBUG_VERIFY
    bool always = true;
#else
    bool always = false;
#endif
    if (!always && (!env || !*env))
        return;
    bool verify = always || rg_debug_asked("verify"), print_read = rg_debug_asked("print-read");
    bool dump = rg_debug_asked(name) || (!is_stage(name) && rg_debug_asked("passes"));
    if (rg_debug_asked("help") && strcmp(name, "lang") == 0) {
        fprintf(stderr, "RETROGRAD_DEBUG takes a list of:\n");
        for (size_t i = 0; i < sizeof help / sizeof *help; i++)
            fprintf(stderr, "  %-12s%s\n", help[i][0], help[i][1]);
    }
    if (!verify && !print_read && !dump)
        return;
    rg_arena *a = rg_arena_new(NULL);
    if (!a)
        rg_arena_throw(f->arena, RG_THROW_MEMORY);
    char fault[400] = "";
    volatile int thrown = RG_GUARD(a);
    if (!thrown) {
        const char *words = check(a, f, verify, print_read);
        if (words)
            snprintf(fault, sizeof fault, "%s", words);
        if (dump || words) {
            rg_text t = {.arena = a};
            rg_ir_print(f, &t);
            if (dump || rg_debug_asked("verify") || print_read)
                fprintf(stderr, "-- %s %s, %s --\n%s%s\n", f->name, rg_mode_name(f->mode), name,
                        words ? words : "", rg_text_str(&t));
        }
    } else if (thrown != RG_THROW_MEMORY) {
        snprintf(fault, sizeof fault, "%s", rg_arena_message(a));
    }
    rg_arena_free(a);
    if (thrown == RG_THROW_MEMORY)
        rg_arena_throw(f->arena, RG_THROW_MEMORY);
    if (fault[0])
        rg_bug(f->arena, "%s %s after %s: %s", f->name, rg_mode_name(f->mode), name, fault);
}

static void after(void *user, rg_fn *f, const char *pass) {
    (void)user;
    rg_debug_stage(f, pass);
}

rg_opt_options rg_debug_opt(void) {
    return (rg_opt_options){.after = after};
}

void rg_debug_text(const char *name, const char *text) {
    if (rg_debug_asked(name))
        fprintf(stderr, "-- %s --\n%s\n", name, text);
}
