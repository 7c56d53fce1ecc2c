/* A name that is not known is mostly a slip of the fingers, a missing #include, or another
 * language. The first is found by edit distance among all names that would have been right, the
 * others by short lists. */
#include "lang/nearest.h"

#include <string.h>

enum { LONGEST = 40 }; /* of the names that are compared */

/* Insertions, deletions, replacements, and swaps of neighbours. */
static uint32_t distance(const char *a, const char *b) {
    uint32_t rows[3][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (uint32_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t *row = rows[i % 3], *up = rows[(i - 1) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            uint32_t d = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < d)
                d = up[j] + 1;
            if (row[j - 1] + 1 < d)
                d = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < d)
                d = up2[j - 2] + 1;
            row[j] = d;
        }
    }
    return rows[n % 3][m];
}

typedef struct search {
    const char *name, *best;
    uint32_t least; /* a candidate must be nearer */
} search;

static search search_for(const char *name) {
    size_t n = strlen(name);
    return (search){name, NULL, n < 2 ? 0 : n < 4 ? 2 : n < 8 ? 3 : 4};
}

static void consider(search *s, const char *candidate) {
    if (candidate[0] == '_' && candidate[1] == '_')
        return;
    uint32_t d = distance(s->name, candidate);
    if (d < s->least) {
        s->least = d;
        s->best = candidate;
    }
}

static void consider_symbols(rg_parser *p, search *s, bool functions, bool types) {
    for (const rg_scope *scope = p->scope; scope; scope = scope->up)
        for (const rg_sym *x = scope->syms; x; x = x->in_scope)
            if (!x->is_tag && (x->kind == RG_SYM_FUNC) == functions &&
                (x->kind == RG_SYM_TYPEDEF) == types)
                consider(s, x->name);
}

static const char *words(rg_parser *p, const search *s, const char *otherwise) {
    return s->best ? rg_format(p->arena, "did you mean '%s'?", s->best) : otherwise;
}

const char *rg_hint_word(rg_parser *p, const char *name, const char *const *list,
                         const char *otherwise) {
    search s = search_for(name);
    for (; *list; list++)
        consider(&s, *list);
    return words(p, &s, otherwise);
}

const char *rg_hint_variable(rg_parser *p, const char *name, const char *otherwise) {
    static const struct {
        const char *name, *hint;
    } known[] = {
        {"true", "#include <stdbool.h>"},
        {"false", "#include <stdbool.h>"},
        {"nullptr", "kernels are C, not C++; and arrays always exist"},
        {"NULL", "pass a flag: arrays always exist"},
        {"INFINITY", "#include <math.h>"},
        {"NAN", "#include <math.h>"},
        {"M_PI", "#include <math.h>"},
        {"FLT_MAX", "#include <float.h>"},
        {"FLT_EPSILON", "#include <float.h>"},
        {"DBL_MAX", "#include <float.h>"},
        {"DBL_EPSILON", "#include <float.h>"},
        {"INT_MAX", "#include <limits.h>"},
        {"INT_MIN", "#include <limits.h>"},
        {"threadIdx", "write the loop over all threads: for (int i = 0; i < n; i++)"},
        {"blockIdx", "write the loop over all threads: for (int i = 0; i < n; i++)"},
        {"this", "kernels are C, not C++"},
        {"std", "kernels are C, not C++"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name))
            return known[i].hint;
    search s = search_for(name);
    consider_symbols(p, &s, false, false);
    return words(p, &s, otherwise);
}

const char *rg_hint_function(rg_parser *p, const char *name, const char *otherwise) {
    search s = search_for(name);
    consider_symbols(p, &s, true, false);
    const char *base;
    for (uint32_t i = 0; (base = rg_math_name(i)) != NULL; i++) {
        consider(&s, base);
        consider(&s, rg_format(p->arena, "%sf", base));
    }
    return words(p, &s, otherwise);
}

const char *rg_hint_type(rg_parser *p, const char *name, const char *otherwise) {
    static const char *const cpp[] = {"template", "typename", "class",   "namespace", "using",
                                      "public",   "private",  "virtual", "std",       "constexpr",
                                      "operator", "decltype", "friend",  NULL};
    static const char *const gpu[] = {"__global__", "__device__", "__host__", "__kernel", "kernel",
                                      "__shared__", "__global",   "device",   NULL};
    static const char *const basic[] = {"float", "double", "int",   "unsigned", "long", "short",
                                        "char",  "void",   "const", "struct",   NULL};
    for (size_t i = 0; cpp[i]; i++)
        if (!strcmp(cpp[i], name))
            return "kernels are C, not C++: plain functions and structs";
    for (size_t i = 0; gpu[i]; i++)
        if (!strcmp(gpu[i], name))
            return "a kernel is a plain C function, its threads a loop under "
                   "'#pragma omp parallel for'";
    size_t n = strlen(name);
    if (!strcmp(name, "bool"))
        return "#include <stdbool.h>";
    if (!strcmp(name, "size_t") || !strcmp(name, "ptrdiff_t"))
        return "#include <stddef.h>";
    if (n > 4 && !strcmp(name + n - 2, "_t") &&
        (!strncmp(name, "int", 3) || !strncmp(name, "uint", 4)))
        return "#include <stdint.h>";
    search s = search_for(name);
    consider_symbols(p, &s, false, true);
    for (size_t i = 0; basic[i]; i++)
        consider(&s, basic[i]);
    return words(p, &s, otherwise);
}
