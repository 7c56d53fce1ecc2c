/* The CPU form of a file: prelude, struct types, helpers, and for each variant
 *
 *   ENTRY_main   the kernel's serial code, over pointers and scalars as parameters (`restrict`)
 *   ENTRY        takes them out of the argument block
 *
 * or, with more than MAX_PARAMETERS of them, the two in one: C compilers take longer over a call
 * with thousands of arguments than over all the rest (gcc 12: 6 s of 14 for a thousand arrays).
 *
 * with the functions of its parallel loops before it (cpu_task.c). */
#include "emit/c/cpu.h"
#include "emit/c/cpu_chain.h"

#include <string.h>

#include "emit/layout.h"

enum { STACK_ARRAY = 4096, STACK_TOTAL = 65536, MAX_PARAMETERS = 256 };

const char rg_cpu_prelude[] =
    "#define RG_ARG(T, at) (*(T const *)((const char *)rg_args + (at)))\n"
    "#define RG_UNUSED __attribute__((unused))\n"
    /* gcc 12 finds functions that store through a pointer to be pure, once its loop optimiser has
     * rewritten their addresses, and drops the calls: callers must not look inside. */
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#define RG_APART __attribute__((noipa))\n"
    "#else\n"
    "#define RG_APART __attribute__((noinline))\n"
    "#endif\n"
    /* Lanes of a max reduction start at clang's largest finite number below zero: no identity. */
    "#if defined(__clang__)\n"
    "#define RG_NOT_CLANG(...)\n"
    "#else\n"
    "#define RG_NOT_CLANG(...) _Pragma(#__VA_ARGS__)\n"
    "#endif\n"
    "\n"
    "/* Local array: its bytes from the worker's scratch; NULL after a fault. */\n"
    "static RG_UNUSED __attribute__((noinline, malloc)) void *rg_new(const rg_cpu_env *env,\n"
    "        int thread, int line, const char *name, size_t size, int zero, int rank,\n"
    "        const int64_t *n) {\n"
    "    size_t bytes = size;\n"
    "    for (int k = 0; k < rank; k++) {\n"
    "        if (n[k] < 0) {\n"
    "            env->fault(env, RG_CPU_FAULT_EXTENT, line, name, n[k], 0, k);\n"
    "            return NULL;\n"
    "        }\n"
    "        if (__builtin_mul_overflow(bytes, (size_t)n[k], &bytes) || bytes > PTRDIFF_MAX) {\n"
    "            env->fault(env, RG_CPU_FAULT_MEMORY, line, name, PTRDIFF_MAX, 0, 0);\n"
    "            return NULL;\n"
    "        }\n"
    "    }\n"
    "    void *p = env->alloc(env, thread, bytes ? bytes : 1);\n"
    "    if (!p) {\n"
    "        env->fault(env, RG_CPU_FAULT_MEMORY, line, name, (int64_t)bytes, 0, 0);\n"
    "        return NULL;\n"
    "    }\n"
    "    if (zero)\n"
    "        memset(p, 0, bytes);\n"
    "    return p;\n"
    "}\n"
    "\n"
    "/* Room for element i of a growing array, new elements zero; NULL after a fault. */\n"
    "static RG_UNUSED __attribute__((noinline)) void *rg_more(const rg_cpu_env *env, void *p,\n"
    "        int64_t *room, int64_t i, size_t size, int line, const char *name) {\n"
    "    if (i < *room)\n"
    "        return p;\n"
    "    int64_t more = i < INT64_MAX / 64 ? 2 * i + 64 : INT64_MAX;\n"
    "    size_t bytes;\n"
    "    void *q = NULL;\n"
    "    if (__builtin_mul_overflow((size_t)more, size, &bytes) || bytes > PTRDIFF_MAX)\n"
    "        bytes = PTRDIFF_MAX;\n"
    "    else\n"
    "        q = env->grow(env, p, bytes);\n"
    "    if (!q) {\n"
    "        env->fault(env, RG_CPU_FAULT_MEMORY, line, name, (int64_t)bytes, 0, 0);\n"
    "        return NULL;\n"
    "    }\n"
    "    memset((char *)q + (size_t)*room * size, 0, (size_t)(more - *room) * size);\n"
    "    *room = more;\n"
    "    return q;\n"
    "}\n"
    "\n"
    "static RG_UNUSED inline int rg_in(const rg_cpu_env *env, int line, const char *name, int "
    "axis,\n"
    "                                  int64_t i, int64_t n) {\n"
    "    if ((uint64_t)i < (uint64_t)n)\n"
    "        return 1;\n"
    "    env->fault(env, RG_CPU_FAULT_BOUNDS, line, name, i, n, axis);\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "static RG_UNUSED inline int64_t rg_at_least_0(int64_t n) {\n"
    "    return n > 0 ? n : 0;\n"
    "}\n"
    "\n"
    "static RG_UNUSED inline void rg_copy(void *to, const void *from, size_t bytes) {\n"
    "    if (bytes)\n"
    "        memmove(to, from, bytes);\n"
    "}\n"
    "\n"
    "/* Of arrays that are apart: one of few elements needs no call. */\n"
    "static RG_UNUSED inline void rg_copy_apart(void *restrict to, const void *restrict from,\n"
    "                                           size_t bytes) {\n"
    "    if (bytes)\n"
    "        memcpy(to, from, bytes);\n"
    "}\n"
    "\n"
    "static RG_UNUSED inline void rg_clear(void *p, size_t bytes) {\n"
    "    if (bytes)\n"
    "        memset(p, 0, bytes);\n"
    "}\n"
    "\n"
    "/* Is a private copy for each worker worth it? elements against adds (per for an iteration). "
    "*/\n"
    "static RG_UNUSED RG_APART int rg_few(size_t elements, int threads, int64_t all, int64_t per,\n"
    "                                   size_t bytes) {\n"
    "    if (bytes * (size_t)threads > (size_t)1 << 30)\n"
    "        return 0;\n"
    "    return elements <= 16384 || (double)elements <= (double)all * (double)per;\n"
    "}\n"
    "\n";

/* Adds the copies of all workers that ran to the gradient, in order. */
static const char merge_text[] =
    "struct rg_merge_%s {\n"
    "    %s *to;\n"
    "    const char *copy;\n"
    "    size_t size;\n"
    "    const char *used;\n"
    "};\n"
    "static void rg_merge_task_%s(const rg_cpu_env *env, void *closure, int64_t begin, int64_t "
    "end,\n"
    "                             int thread) {\n"
    "    const struct rg_merge_%s *c = closure;\n"
    "    (void)thread;\n"
    "    %s *restrict to = c->to;\n"
    "    for (int t = 1; t < env->threads; t++) {\n"
    "        if (!c->used[t])\n"
    "            continue;\n"
    "        const %s *restrict from = (const void *)(c->copy + (size_t)(t - 1) * c->size);\n"
    "        for (int64_t i = begin; i < end; i++)\n"
    "            to[i] += from[i];\n"
    "    }\n"
    "}\n"
    "static RG_UNUSED void rg_merge_%s(const rg_cpu_env *env, %s *to, const char *copy, size_t "
    "size,\n"
    "                        const char *used, int64_t n) {\n"
    "    struct rg_merge_%s c = {to, copy, size, used};\n"
    "    if (n > 0)\n"
    "        env->parallel(env, rg_merge_task_%s, &c, n, 8192);\n"
    "}\n"
    "\n";

bool rg_cpu_shared(const rg_cprint *p, rg_aid a) {
    const rg_cpu *s = p->user;
    const rg_fn *f = p->f;
    const rg_ir_array *x = &f->arrays.at[a];
    if (x->kind == RG_ARR_LOCAL || (s->act && !s->act->group))
        return false;
    if (!s->act) { /* nobody said: gradients of one element type may be one gradient */
        for (uint32_t k = 1; k < f->arrays.n; k++) {
            const rg_ir_array *y = &f->arrays.at[k];
            if (k != a && y->kind == RG_ARR_SHADOW && (x->shadow & y->shadow & RG_SH_GRAD) &&
                y->elem == x->elem)
                return true;
        }
        return false;
    }
    for (uint32_t k = 0; k < s->act->nparams; k++)
        if (k != x->param && s->act->group[k] == s->act->group[x->param])
            return true;
    return false;
}

/* ---- one variant ---- */

static void find_homes(rg_cprint *p, rg_rid r) {
    rg_cpu *s = p->user;
    const rg_region *g = &p->f->regions.at[r];
    for (uint32_t k = 0; p->plan->allocs[r] && k < g->ins.n; k++) {
        const rg_ins *q = &p->f->ins.at[g->ins.at[k]];
        if (q->op == RG_ALLOC) {
            uint64_t bytes = rg_c_small_array(p->f, q->array, STACK_ARRAY);
            if (p->f->arrays.at[q->array].flags & RG_ARR_GROW)
                s->home[q->array] = RG_CPU_GROWS;
            else if (bytes && s->stack + bytes <= STACK_TOTAL) {
                s->home[q->array] = RG_CPU_STACK;
                s->stack += bytes;
            } else
                s->home[q->array] = RG_CPU_ENV;
        }
        for (int b = 0; b < 2; b++)
            if (q->region[b])
                find_homes(p, q->region[b]);
    }
}

/* What the serial code gets out of the argument block. */
typedef struct passed {
    const char *type, *name, *value;
} passed;
typedef RG_VEC(passed) passed_list;

static void find_passed(rg_cprint *p, passed_list *out) {
    const rg_fn *f = p->f;
    rg_arena *a = p->arena;
    const rg_layout *l = rg_layout_make(a, f);
    for (uint32_t k = 1; k < f->arrays.n; k++) {
        const rg_ir_array *x = &f->arrays.at[k];
        if (x->kind == RG_ARR_LOCAL)
            continue;
        const char *elem = rg_c_elem(p->d, a, x->elem, "rg_s_");
        const char *type = rg_format(a, "%s *%s", elem, rg_cpu_shared(p, k) ? "" : "restrict ");
        const char *value = rg_format(a, "RG_ARG(%s *, %u)", elem, l->array_pointer[k]);
        RG_PUSH(a, out, (passed){type, p->plan->array_name[k], value});
    }
    for (uint32_t q = 0; q < f->params.n; q++) {
        const rg_param *x = &f->params.at[q];
        for (uint32_t k = 0; x->is_array && k < x->rank; k++)
            RG_PUSH(a, out,
                    (passed){"int64_t ", p->plan->extent_name[x->array][k],
                             rg_format(a, "RG_ARG(int64_t, %u)", l->param_extents[q] + 8 * k)});
    }
    for (uint32_t k = 0; k < f->scalars.n; k++) {
        const rg_scalar *s = &f->scalars.at[k];
        bool half = s->mem == RG_M_F16;
        if (half)
            rg_c_use(p->helpers, RG_H_HALF_LOAD);
        RG_PUSH(a, out,
                (passed){rg_format(a, "%s ", p->d->type[rg_mem_value(s->mem)]),
                         p->plan->scalar_name[k],
                         rg_format(a, "%sRG_ARG(%s, %u)%s", half ? "rg_half_to_float(" : "",
                                   p->d->mem[s->mem], l->param_value[s->param] + s->offset,
                                   half ? ")" : "")});
    }
}

static const char *const reserved[] = {
    "auto",      "break",     "case",      "char",      "const",      "continue",   "default",
    "do",        "double",    "else",      "enum",      "extern",     "float",      "for",
    "goto",      "if",        "inline",    "int",       "long",       "register",   "restrict",
    "return",    "short",     "signed",    "sizeof",    "static",     "struct",     "switch",
    "typedef",   "union",     "unsigned",  "void",      "volatile",   "while",      "bool",
    "true",      "false",     "size_t",    "int8_t",    "uint8_t",    "int16_t",    "uint16_t",
    "int32_t",   "uint32_t",  "int64_t",   "uint64_t",  "NULL",       "INFINITY",   "NAN",
    "INT32_MIN", "INT32_MAX", "INT64_MIN", "INT64_MAX", "UINT32_MAX", "UINT64_MAX", "PTRDIFF_MAX",
    "memcpy",    "memset",    "memmove",   "isnan",     "isinf",      "signbit",    "asm",
    "typeof",    "linux",     "unix",      "i386",      "RG_ARG",     "RG_UNUSED",  NULL};

static const char *const *words(rg_arena *a) {
    RG_VEC(const char *) v = {0};
    for (const char *const *w = reserved; *w; w++)
        RG_PUSH(a, &v, *w);
    for (int op = 1; op < RG_N_OPS; op++) {
        const char *c = rg_ops[op].c;
        if (c && *c >= 'a' && *c <= 'z') {
            RG_PUSH(a, &v, c);
            RG_PUSH(a, &v, rg_format(a, "%sf", c));
        }
    }
    RG_PUSH(a, &v, NULL);
    return v.at;
}

static bool variant(rg_arena *a, const rg_fn *f, const char *entry, const rg_activity *act,
                    bool checked, rg_chelpers *helpers, const char *const *taken, rg_text *out) {
    rg_cplan_options o = {.fold = !checked, .extent_names = true, .reserved = taken};
    rg_cplan *plan = rg_cplan_make(a, f, &o);
    rg_text body = {.arena = a}, tasks = {.arena = a};
    rg_cprint p;
    rg_c_init(&p, a, f, plan, &rg_cpu_dialect, helpers, &body);
    rg_cpu s;
    memset(&s, 0, sizeof s);
    s.entry = entry;
    s.act = act;
    s.tasks = &tasks;
    s.home = RG_NEW_N(a, rg_cpu_home, f->arrays.n + 1);
    s.hoisted = RG_NEW_N(a, bool, f->arrays.n + 1);
    s.counter = RG_NEW_N(a, uint32_t, f->ins.n);
    s.own = RG_NEW_N(a, bool, f->arrays.n + 1);
    p.user = &s;
    p.checked = checked;
    p.indent = 1;
    find_homes(&p, f->body);

    passed_list args = {0};
    find_passed(&p, &args);
    bool direct = args.n > MAX_PARAMETERS;
    rg_text_format(&body, "int %s(const rg_cpu_env *rg_env, const void *rg_args);\n", entry);
    rg_text_format(&body,
                   direct ? "int %s(const rg_cpu_env *rg_env, const void *rg_args) {\n"
                          : "static RG_APART int %s_main(const rg_cpu_env *rg_env",
                   entry);
    for (uint32_t k = 0; k < args.n; k++) {
        rg_text_format(&body, direct ? "    %s%s" : ",\n    %s%s", args.at[k].type,
                       args.at[k].name);
        if (direct)
            rg_text_format(&body, " = %s;\n", args.at[k].value);
    }
    rg_text_add(&body, direct ? "    (void)rg_env;\n" : ") {\n    (void)rg_env;\n");
    rg_cpu_dialect.enter(&p, f->body);
    rg_c_region(&p, f->body);
    rg_cpu_dialect.leave(&p, f->body, true);
    rg_text_add(&body, "    return 0;\n}\n\n");
    if (!direct) {
        rg_text_format(&body,
                       "int %s(const rg_cpu_env *rg_env, const void *rg_args) {\n"
                       "    (void)rg_args;\n    return %s_main(rg_env",
                       entry, entry);
        for (uint32_t k = 0; k < args.n; k++)
            rg_text_format(&body, ",\n        %s", args.at[k].value);
        rg_text_add(&body, ");\n}\n\n");
    }
    rg_text_format(out, "/* ---- %s: %s of %s ---- */\n\n", entry, rg_mode_name(f->mode), f->name);
    rg_text_add(out, rg_text_str(&tasks));
    rg_text_add(out, rg_text_str(&body));
    return s.chains;
}

static uint32_t highest_struct(const rg_fn *f) {
    uint32_t most = f->module ? f->module->structs.n : 0;
    for (uint32_t k = 0; k < f->params.n; k++)
        if (f->params.at[k].elem->is_struct && f->params.at[k].elem->index >= most)
            most = f->params.at[k].elem->index + 1;
    for (uint32_t k = 1; k < f->arrays.n; k++)
        if (f->arrays.at[k].elem->is_struct && f->arrays.at[k].elem->index >= most)
            most = f->arrays.at[k].elem->index + 1;
    return most;
}

void rg_emit_c_cpu(const rg_fn *const *fns, const char *const *entry_names, uint32_t n,
                   const rg_emit_c_options *o, rg_text *out) {
    rg_arena *a = out->arena;
    rg_chelpers helpers;
    memset(&helpers, 0, sizeof helpers);
    const char *const *taken = words(a);
    rg_text body = {.arena = a}, structs = {.arena = a};
    bool chains = false;
    uint32_t most = 0;
    for (uint32_t k = 0; k < n; k++)
        if (highest_struct(fns[k]) > most)
            most = highest_struct(fns[k]);
    bool *done = RG_NEW_N(a, bool, most + 1);
    for (uint32_t k = 0; k < n; k++) {
        rg_c_structs(&structs, &rg_cpu_dialect, fns[k], done, "rg_s_");
        chains |= variant(a, fns[k], entry_names[k], o && o->acts ? o->acts[k] : NULL,
                          o && o->checked, &helpers, taken, &body);
    }
    rg_text_add(out, "#include <math.h>\n#include <stdbool.h>\n#include <string.h>\n\n");
    rg_text_add(out, rg_cpu_abi_text);
    rg_text_char(out, '\n');
    rg_text_add(out, rg_cpu_prelude);
    for (int k = 0; k < 2; k++) {
        const char *m = k ? "f64" : "f32", *c = k ? "double" : "float";
        rg_text_format(out, merge_text, m, c, m, m, c, c, m, c, m, m);
    }
    if (chains)
        rg_text_add(out, rg_cpu_chain_text);
    rg_c_helpers_print(&helpers, out);
    rg_text_add(out, rg_text_str(&structs));
    rg_text_add(out, rg_text_str(&body));
}
