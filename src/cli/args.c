/* Words are taken from left to right: options anywhere, NAME=VALUE anywhere after the file, names
 * in order. Every problem is reported, not only the first. */
#include "args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct option {
    const char *name, *letter, *value, *help;
} options[RG_N_OPTS] = {
    [RG_OPT_DEVICE] = {"--device", "-d", "NAME",
                       "where to run: cpu (default) or ref; see `retrograd devices`"},
    [RG_OPT_MODE] = {"--mode", "-m", "MODE", "primal, adjoint, tangent, hvp or adjoint-of-tangent"},
    [RG_OPT_GRAD] = {"--grad", NULL, "NAME=VALUE",
                     "incoming gradient of NAME (adjoint mode; default zeros)"},
    [RG_OPT_DOT] = {"--dot", NULL, "NAME=VALUE", "tangent of NAME (tangent mode; default zeros)"},
    [RG_OPT_OUT] = {"--out", NULL, "NAME[.grad|.dot|.hvp]=PATH",
                    "write a result as .npy, or print it when PATH is -"},
    [RG_OPT_KERNEL] = {"--kernel", "-k", "NAME", "the kernel (default: all of the file)"},
    [RG_OPT_TARGET] = {"--target", "-t", "TARGET", "c (default), ir, cpu, spirv or msl"},
    [RG_OPT_ADDRESSING] = {"--addressing", NULL, "address|offset",
                           "how arrays reach SPIR-V: as addresses (default), or as offsets into a "
                           "bound block"},
    [RG_OPT_OUTPUT] = {"--output", "-o", "PATH", "write there instead of on the terminal"},
    [RG_OPT_ACTIVE] = {"--active", NULL, "NAME,NAME...",
                       "parameters that carry gradients (default: all that can)"},
    [RG_OPT_SEED] = {"--seed", NULL, "N", "seed of the random inputs (default 0)"},
    [RG_OPT_REPEAT] = {"--repeat", NULL, "N", "runs of each kind (default: about a second)"},
    [RG_OPT_SECOND_ORDER] = {"--second-order", NULL, NULL, "check Hessian-vector products too"},
    [RG_OPT_CHECKED] = {"--checked", NULL, NULL,
                        "report bounds, integer division and shifts found wrong at run time"},
    [RG_OPT_EDGES] = {"--edges", NULL, "usual|strict",
                      "strict: one-sided limits instead of conventional zeros at kinks"},
    [RG_OPT_TAPE_MEMORY] = {"--tape-memory", NULL, "SIZE",
                            "bytes that an adjoint may save for its loops, with K, M or G "
                            "(default 1G)"},
    [RG_OPT_THREADS] = {"--threads", NULL, "N", "threads of the cpu device (default: all cores)"},
    [RG_OPT_DEFINE] = {"--define", "-D", "NAME[=TEXT]", "define a macro"},
    [RG_OPT_INCLUDE] = {"--include", "-I", "DIR", "search DIR for #include"},
    [RG_OPT_CPP] = {"--cpp", NULL, "COMMAND",
                    "use an outside preprocessor, e.g. 'cc -E -nostdinc'"},
    [RG_OPT_SINCE] = {"--since", NULL, "VERSION",
                      "oldest SPIRV-Cross to be right on: 1.3.239 (default), 1.4.304, 1.4.357"},
    [RG_OPT_JSON] = {"--json", NULL, NULL, "print JSON, for machines"},
    [RG_OPT_HELP] = {"--help", "-h", NULL, "print this"},
};

static const char *const mode_names[] = {
    "primal", "adjoint", "tangent", "hvp", "adjoint-of-tangent", NULL};

static void push(rg_cli_strings *s, const char *text) {
    const char **more = rg_cli_alloc(s->n + 1, sizeof *more);
    if (s->n)
        memcpy(more, s->at, s->n * sizeof *more);
    more[s->n++] = text;
    s->at = more;
}

static void push_pair(rg_cli_pairs *s, rg_cli_pair p) {
    rg_cli_pair *more = rg_cli_alloc(s->n + 1, sizeof *more);
    if (s->n)
        memcpy(more, s->at, s->n * sizeof *more);
    more[s->n++] = p;
    s->at = more;
}

static bool is_name(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return n > 0;
}

static void take_pair(rg_cli_pairs *to, const char *option, const char *text, bool parts) {
    const char *eq = strchr(text, '=');
    size_t n = eq ? (size_t)(eq - text) : 0;
    const char *dot = eq && parts ? memchr(text, '.', n) : NULL;
    size_t stem = dot ? (size_t)(dot - text) : n;
    if (!eq || !is_name(text, stem)) {
        rg_cli_problem("%s wants %s, not '%s'", option, parts ? "NAME=PATH" : "NAME=VALUE", text);
        return;
    }
    rg_cli_pair p = {rg_cli_strndup(text, stem), "", eq + 1};
    if (dot)
        p.part = rg_cli_strndup(dot + 1, n - stem - 1);
    if (!*p.value)
        rg_cli_problem("%s: nothing follows '%s'", option, text);
    push_pair(to, p);
}

static bool take_integer(const char *option, const char *text, uint64_t most, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || v > most) {
        rg_cli_problem("%s wants an integer from 0 to %llu, not '%s'", option,
                       (unsigned long long)most, text);
        return false;
    }
    *out = v;
    return true;
}

/* 64M: the suffix is a power of 1024. */
static void take_size(const char *option, const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (*text < '0' || *text > '9' || errno || !v || (*end && (!unit || end[1])) ||
        v > UINT64_MAX >> shift)
        rg_cli_problem("%s wants a number of bytes, as 65536, 64K, 64M or 4G, not '%s'", option,
                       text);
    else
        *out = (uint64_t)v << shift;
}

static void take_option(rg_cli_args *a, rg_cli_option_id id, const char *v) {
    const char *name = options[id].name;
    uint64_t u;
    switch (id) {
    case RG_OPT_DEVICE:
        a->device = v;
        break;
    case RG_OPT_MODE:
        for (size_t i = 0; mode_names[i]; i++)
            if (strcmp(mode_names[i], v) == 0) {
                a->mode = (rg_kernel_mode)i;
                a->has_mode = true;
                return;
            }
        rg_cli_problem("unknown mode '%s': primal, adjoint, tangent, hvp or adjoint-of-tangent", v);
        break;
    case RG_OPT_GRAD:
        take_pair(&a->grads, name, v, false);
        break;
    case RG_OPT_DOT:
        take_pair(&a->dots, name, v, false);
        break;
    case RG_OPT_OUT:
        take_pair(&a->outs, name, v, true);
        break;
    case RG_OPT_KERNEL:
        a->kernel = v;
        break;
    case RG_OPT_TARGET:
        a->target = v;
        break;
    case RG_OPT_ADDRESSING:
        a->addressing = strcmp(v, "offset") == 0 ? RG_ADDRESSING_OFFSET : RG_ADDRESSING_ADDRESS;
        if (!a->addressing && strcmp(v, "address") != 0)
            rg_cli_problem("--addressing is 'address' or 'offset', not '%s'", v);
        break;
    case RG_OPT_OUTPUT:
        a->output = v;
        break;
    case RG_OPT_ACTIVE:
        a->active = v;
        break;
    case RG_OPT_SEED:
        a->has_seed = take_integer(name, v, UINT64_MAX, &a->seed);
        break;
    case RG_OPT_REPEAT:
        if (take_integer(name, v, 1000000, &u))
            a->repeat = (int)u;
        break;
    case RG_OPT_SECOND_ORDER:
        a->second_order = true;
        break;
    case RG_OPT_CHECKED:
        a->checked = true;
        break;
    case RG_OPT_EDGES:
        a->strict_edges = strcmp(v, "strict") == 0;
        if (!a->strict_edges && strcmp(v, "usual") != 0)
            rg_cli_problem("--edges is 'usual' or 'strict', not '%s'", v);
        break;
    case RG_OPT_TAPE_MEMORY:
        take_size(name, v, &a->tape_memory);
        break;
    case RG_OPT_THREADS:
        if (take_integer(name, v, 4096, &u))
            a->threads = (int)u;
        break;
    case RG_OPT_DEFINE: {
        const char *eq = strchr(v, '=');
        const char *paren = strchr(v, '(');
        size_t n = eq ? (size_t)(eq - v) : strlen(v);
        if (paren && (size_t)(paren - v) < n)
            n = (size_t)(paren - v);
        if (!is_name(v, n))
            rg_cli_problem("-D wants NAME or NAME=TEXT, not '%s'", v);
        push(&a->defines, v);
        break;
    }
    case RG_OPT_INCLUDE:
        push(&a->includes, v);
        break;
    case RG_OPT_CPP:
        a->cpp = v;
        break;
    case RG_OPT_SINCE:
        a->since = v;
        break;
    case RG_OPT_JSON:
        a->json = true;
        break;
    case RG_OPT_HELP:
        a->help = true;
        break;
    case RG_N_OPTS:
        break;
    }
}

static void unknown_option(const rg_cli_command *c, const char *word) {
    const char *list[RG_N_OPTS + 1];
    size_t n = 0;
    for (size_t i = 0; i < RG_N_OPTS; i++)
        if (c->options & (UINT32_C(1) << i))
            list[n++] = options[i].name;
    list[n] = NULL;
    char *name = rg_cli_strndup(word, strcspn(word, "="));
    for (size_t i = 0; i < RG_N_OPTS; i++)
        if (strcmp(options[i].name, name) == 0) {
            rg_cli_problem("'%s' takes no option '%s'", c->name, name);
            return;
        }
    const char *near = rg_cli_nearest(name, list);
    if (near)
        rg_cli_problem("unknown option '%s': did you mean '%s'?", name, near);
    else
        rg_cli_problem("unknown option '%s': `retrograd %s --help` lists them", name, c->name);
}

/* The option that word names, its value when it is part of the word. RG_N_OPTS: none. */
static rg_cli_option_id find_option(const rg_cli_command *c, const char *word, const char **value) {
    *value = NULL;
    for (size_t i = 0; i < RG_N_OPTS; i++) {
        if (!(c->options & (UINT32_C(1) << i)))
            continue;
        size_t n = strlen(options[i].name);
        const char *letter = options[i].letter;
        if (strncmp(word, options[i].name, n) == 0 && (word[n] == '\0' || word[n] == '=')) {
            *value = word[n] ? word + n + 1 : NULL;
            return (rg_cli_option_id)i;
        }
        if (letter && word[0] == '-' && word[1] == letter[1]) { /* -DNAME, -D NAME */
            if (word[2] && !options[i].value)
                continue;
            *value = word[2] ? word + 2 : NULL;
            return (rg_cli_option_id)i;
        }
    }
    return RG_N_OPTS;
}

bool rg_cli_args_parse(const rg_cli_command *c, int argc, char **argv, rg_cli_args *a) {
    bool only_names = false;
    size_t before = rg_cli_problem_count();
    *a = (rg_cli_args){.mode = RG_MODE_PRIMAL};
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *value;
        if (!only_names && strcmp(word, "--") == 0) {
            only_names = true;
            continue;
        }
        if (!only_names && word[0] == '-' && word[1]) {
            rg_cli_option_id id = find_option(c, word, &value);
            if (id == RG_N_OPTS) {
                unknown_option(c, word);
                continue;
            }
            if (!options[id].value && value)
                rg_cli_problem("'%s' takes no value", options[id].name);
            if (options[id].value && !value) {
                if (i + 1 == argc) {
                    rg_cli_problem("'%s' wants %s", word, options[id].value);
                    continue;
                }
                value = argv[++i];
            }
            take_option(a, id, value);
        } else if (!a->file) {
            a->file = word;
        } else if (strchr(word, '=')) {
            take_pair(&a->values, "a value", word, false);
        } else if (!a->kernel && !(c->options & RG_OPT_BIT(KERNEL))) {
            a->kernel = word;
        } else {
            push(&a->extra, word);
        }
    }
    return rg_cli_problem_count() == before;
}

void rg_cli_command_help(const rg_cli_command *c, FILE *to) {
    fprintf(to, "usage: retrograd %s%s%s\n\n%s\n", c->name, *c->usage ? " " : "", c->usage,
            c->about);
    fputs("\nOptions:\n", to);
    for (size_t i = 0; i < RG_N_OPTS; i++) {
        if (!(c->options & (UINT32_C(1) << i)))
            continue;
        const struct option *o = &options[i];
        char left[80];
        snprintf(left, sizeof left, "  %s%s%s%s%s", o->letter ? o->letter : "",
                 o->letter ? ", " : "    ", o->name, o->value ? " " : "", o->value ? o->value : "");
        if (strlen(left) > 27)
            fprintf(to, "%s\n%29s%s\n", left, "", o->help);
        else
            fprintf(to, "%-29s%s\n", left, o->help);
    }
    if (c->examples)
        fprintf(to, "\nExamples:\n%s", c->examples);
}
