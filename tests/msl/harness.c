/* From Metal text to C++:
 *   - each task in a namespace of its own, since SPIRV-Cross names things alike in all of them;
 *   - the spvUnsafeArray template, which differs in address spaces only, is cut out;
 *   - threadgroup variables become static: all threads of a threadgroup are fibers of one thread;
 *   - a function with C linkage calls the kernel, giving each parameter what its attribute names.
 *
 * A threadgroup whose kernel never waits is a loop over its threads. Else each thread is a fiber
 * that runs until it waits: a barrier is passed when all threads that have not ended wait at it, a
 * simdgroup function when all of the simdgroup do. Two buffers by turns hold what the lanes give,
 * so that none overwrites what a slower one still has to read. */
#include "harness.h"

#include "compile/spawn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { ATTRIBUTES = 11, MAX_THREADS = 1024, MAX_SIMD = 64, STACK = 256 * 1024, LANE = 64 };
static const char *const attributes[ATTRIBUTES] = {
    "thread_position_in_grid",        "thread_position_in_threadgroup",
    "threadgroup_position_in_grid",   "threadgroups_per_grid",
    "threads_per_threadgroup",        "threads_per_grid",
    "thread_index_in_threadgroup",    "thread_index_in_simdgroup",
    "simdgroup_index_in_threadgroup", "simdgroups_per_threadgroup",
    "threads_per_simdgroup"};

typedef void task_function(const uint32_t (*thread)[3], void *const *buffers);
typedef struct task {
    task_function *run;
    uint32_t threads;
    bool waits;
} task;
struct msl_code {
    void *handle;
    uint32_t n;
    task *tasks;
};

/* ---- source ---- */

/* A line's declaration of a threadgroup variable: where the word stands, or NULL. */
static const char *threadgroup_variable(const char *line, const char *end) {
    const char *p = line;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    bool it = strncmp(p, "threadgroup ", 12) == 0 && end[-1] == ';' &&
              !memchr(p, '(', (size_t)(end - p)) && !memchr(p, '=', (size_t)(end - p));
    return it ? p : NULL;
}

static void add_body(rg_text *out, const char *text) {
    static const char template[] = "template<typename T, size_t Num>\nstruct spvUnsafeArray\n";
    const char *cut = strstr(text, template);
    const char *resume = cut ? strstr(cut, "\n};") : NULL;
    for (const char *p = text; *p;) {
        if (cut && resume && p == cut) {
            p = resume + 3;
            cut = NULL;
            continue;
        }
        size_t n = strcspn(p, "\n");
        const char *word = n ? threadgroup_variable(p, p + n) : NULL;
        if (word)
            rg_text_add(out, "    static ");
        rg_text_add_n(out, p, n);
        rg_text_char(out, '\n');
        p += n + (p[n] == '\n');
    }
}

/* The attribute of one parameter, from p up to end: what to give for it. */
static bool add_argument(rg_text *out, const char *p, const char *end) {
    const char *a = p;
    for (; a + 2 < end && !(a[0] == '[' && a[1] == '['); a++)
        ;
    if (a + 2 >= end)
        return false;
    a += 2;
    unsigned slot;
    if (sscanf(a, "buffer(%u)]]", &slot) == 1) {
        rg_text_format(out, ", rg_msl_buffer{buffers[%u]}", slot);
        return true;
    }
    size_t n = strcspn(a, "]");
    for (int i = 0; i < ATTRIBUTES; i++)
        if (strlen(attributes[i]) == n && strncmp(attributes[i], a, n) == 0) {
            rg_text_format(out, ", rg_msl_builtin{t->%s}", attributes[i]);
            return true;
        }
    return false;
}

static bool add_call(rg_text *out, const rg_msl_source *s, uint32_t number, const char **why) {
    rg_arena *a = out->arena;
    const char *head = rg_format(a, "kernel void %s(", s->entry);
    const char *p = strstr(s->text, head);
    if (!p) {
        *why = rg_format(a, "the Metal source has no kernel '%s'", s->entry);
        return false;
    }
    p += strlen(head);
    rg_text_format(out,
                   "extern \"C\" void rg_msl_task_%u(const rg_msl_thread *t, void *const *buffers) "
                   "{\n    (void)t, (void)buffers;\n    rg_msl_call(%s",
                   number, s->entry);
    int depth = 0;
    const char *from = p;
    for (;; p++) {
        if (!*p) {
            *why = "the kernel's parameters do not end";
            return false;
        }
        bool last = depth == 0 && *p == ')';
        if (last || (depth == 0 && *p == ',')) {
            if (p > from && !add_argument(out, from, p)) {
                *why = rg_format(a, "the kernel's parameter '%.*s' is of no known kind",
                                 (int)(p - from), from);
                return false;
            }
            if (last)
                break;
            from = p + 1;
        }
        depth += *p == '(' || *p == '<';
        depth -= *p == ')' || *p == '>';
    }
    rg_text_add(out, ");\n}\n");
    return true;
}

static bool add_task(rg_text *out, const rg_msl_source *s, uint32_t number, const char **why) {
    rg_text_format(out, "namespace rg_task_%u {\n", number);
    add_body(out, s->text);
    if (!add_call(out, s, number, why))
        return false;
    rg_text_add(out, "}\n");
    return true;
}

static bool waits(const char *text) {
    return strstr(text, "barrier(") || strstr(text, "simd_");
}

/* ---- compiling ---- */

static const char *include_folder(void) {
    const char *set = getenv("RETROGRAD_MSL_INCLUDE");
#ifdef MSL_INCLUDE
    if (!set || !*set)
        set = MSL_INCLUDE;
#endif
    return set && *set ? set : "tests/msl/include";
}

static bool compile(rg_arena *a, const char *source, const char *to, const char **why) {
    const char *cxx = getenv("RETROGRAD_CLANGXX");
    rg_words w = {{0}};
    rg_words_split(a, &w, cxx && *cxx ? cxx : "clang++");
    static const char *const flags[] = {
        "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fno-math-errno",
        "-fno-exceptions", "-fno-rtti", "-nostdinc", "-fwrapv",
        /* Metal has no double: a constant without a suffix is a float. */
        "-Xclang", "-cl-single-precision-constant", "-I"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        rg_words_add(a, &w, flags[i]);
    rg_words_add(a, &w, include_folder());
    const char *rest[] = {"-o", to, source, "-lm"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        rg_words_add(a, &w, rest[i]);
    rg_spawned r;
    rg_spawn(a, &w, "", 0, &r);
    if (r.error)
        *why = rg_format(a, "clang++ cannot be run: %s", strerror(r.error));
    else if (r.status != 0)
        *why = rg_format(a, "clang++ refuses the Metal source (%s): %.1500s", source,
                         rg_text_str(&r.err));
    return !r.error && r.status == 0;
}

static bool write_file(const char *path, const rg_text *t) {
    FILE *f = fopen(path, "w");
    bool fine = f && fwrite(t->at, 1, t->n, f) == t->n;
    return f ? fclose(f) == 0 && fine : false;
}

/* ---- threads ---- */

typedef enum state { READY, AT_BARRIER, AT_SIMD, ENDED } state;
typedef struct fiber {
    ucontext_t at;
    state is;
    uint32_t thread[ATTRIBUTES][3];
    uint32_t turn; /* simdgroup functions so far */
} fiber;
typedef struct lanes {
    unsigned char given[2][MAX_SIMD][LANE];
} lanes;
static struct {
    ucontext_t main;
    fiber *fibers; /* MAX_THREADS */
    unsigned char *stacks;
    lanes *simds; /* MAX_THREADS */
    uint32_t n, current, simd;
    task_function *run;
    void *const *buffers;
} g;

static void leave(state s) {
    fiber *f = &g.fibers[g.current];
    f->is = s;
    swapcontext(&f->at, &g.main);
}

static void host_barrier(void) {
    leave(AT_BARRIER);
}

static uint32_t host_lane(void) {
    return g.current % g.simd;
}

static void host_simd(const void *mine, uint32_t size, void *all, uint64_t *active) {
    fiber *f = &g.fibers[g.current];
    uint32_t group = g.current / g.simd, first = group * g.simd;
    unsigned char(*given)[LANE] = g.simds[group].given[f->turn++ & 1];
    memcpy(given[g.current - first], mine, size);
    leave(AT_SIMD);
    *active = 0;
    for (uint32_t i = 0; i < g.simd && first + i < g.n; i++) {
        /* A lane that has taken as many turns was here, even if it has ended since. */
        if (g.fibers[first + i].turn < f->turn)
            continue;
        *active |= UINT64_C(1) << i;
        memcpy((unsigned char *)all + (size_t)i * size, given[i], size);
    }
}

static const struct {
    void (*barrier)(void);
    void (*simd)(const void *, uint32_t, void *, uint64_t *);
    uint32_t (*lane)(void);
} host = {host_barrier, host_simd, host_lane};

static void fiber_main(void) {
    fiber *f = &g.fibers[g.current];
    g.run((const uint32_t(*)[3])f->thread, g.buffers);
    f->is = ENDED;
    swapcontext(&f->at, &g.main);
}

static void describe(fiber *f, uint32_t i, uint32_t group, uint32_t groups, uint32_t threads,
                     uint32_t simd) {
    const uint32_t x[ATTRIBUTES] = {group * threads + i,
                                    i,
                                    group,
                                    groups,
                                    threads,
                                    groups * threads,
                                    i,
                                    i % simd,
                                    i / simd,
                                    (threads + simd - 1) / simd,
                                    simd};
    for (int k = 0; k < ATTRIBUTES; k++) {
        bool index = k == 0 || k == 1 || k == 2;
        f->thread[k][0] = x[k];
        f->thread[k][1] = f->thread[k][2] = index ? 0 : 1;
    }
    f->is = READY;
    f->turn = 0;
}

/* Everyone of fibers [from, to) that has not ended waits like that, and somebody does. */
static bool all_wait(uint32_t from, uint32_t to, state s) {
    bool any = false;
    for (uint32_t i = from; i < to; i++) {
        if (g.fibers[i].is != s && g.fibers[i].is != ENDED)
            return false;
        any |= g.fibers[i].is == s;
    }
    return any;
}

static bool release(uint32_t from, uint32_t to, state s) {
    if (!all_wait(from, to, s))
        return false;
    for (uint32_t i = from; i < to; i++)
        if (g.fibers[i].is == s)
            g.fibers[i].is = READY;
    return true;
}

static bool run_group(const char **why) {
    for (uint32_t i = 0; i < g.n; i++) {
        fiber *f = &g.fibers[i];
        getcontext(&f->at);
        f->at.uc_stack.ss_sp = g.stacks + (size_t)i * STACK;
        f->at.uc_stack.ss_size = STACK;
        f->at.uc_link = NULL;
        makecontext(&f->at, fiber_main, 0);
    }
    for (;;) {
        bool ran = false, left = false;
        for (uint32_t i = 0; i < g.n; i++)
            if (g.fibers[i].is == READY) {
                g.current = i;
                swapcontext(&g.main, &g.fibers[i].at);
                ran = true;
            }
        for (uint32_t i = 0; i < g.n; i += g.simd)
            ran |= release(i, i + g.simd < g.n ? i + g.simd : g.n, AT_SIMD);
        ran |= release(0, g.n, AT_BARRIER);
        for (uint32_t i = 0; i < g.n; i++)
            left |= g.fibers[i].is != ENDED;
        if (!left)
            return true;
        if (!ran) {
            *why = "threads of a threadgroup wait for one another at different places";
            return false;
        }
    }
}

static bool ready(const char **why) {
    if (g.stacks)
        return true;
    g.fibers = calloc(MAX_THREADS, sizeof *g.fibers);
    g.simds = calloc(MAX_THREADS, sizeof *g.simds);
    void *stacks = mmap(NULL, (size_t)MAX_THREADS * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!g.fibers || !g.simds || stacks == MAP_FAILED) {
        *why = "out of memory for the threads of a threadgroup";
        return false;
    }
    g.stacks = stacks;
    return true;
}

bool msl_code_run(const msl_code *c, uint32_t number, void *const *buffers, uint32_t groups,
                  uint32_t simd, const char **why) {
    const task *t = &c->tasks[number];
    if (!ready(why))
        return false;
    if (t->threads == 0 || t->threads > MAX_THREADS || simd == 0 || simd > MAX_SIMD) {
        *why = "a threadgroup of no possible size";
        return false;
    }
    g.n = t->threads;
    g.simd = simd;
    g.run = t->run;
    g.buffers = buffers;
    for (uint32_t group = 0; group < groups; group++) {
        for (uint32_t i = 0; i < t->threads; i++) {
            describe(&g.fibers[i], i, group, groups, t->threads, simd);
            if (!t->waits)
                t->run((const uint32_t(*)[3])g.fibers[i].thread, buffers);
        }
        if (t->waits && !run_group(why))
            return false;
    }
    return true;
}

/* ---- code ---- */

msl_code *msl_code_new(rg_arena *a, const rg_msl_source *tasks, uint32_t n, const char **why) {
    msl_code *c = RG_NEW(a, msl_code);
    c->n = n;
    c->tasks = RG_NEW_N(a, task, n + 1);
    rg_text out = {.arena = a};
    rg_text_add(&out, "#include <metal_stdlib>\n#include <simd/simd.h>\n"
                      "extern \"C\" { const rg_msl_host *rg_msl_host_is; }\n");
    for (uint32_t i = 0; i < n; i++)
        if (!add_task(&out, &tasks[i], i, why))
            return NULL;
    const char *folder = rg_temp_folder(a, NULL);
    if (!folder) {
        *why = "no temporary folder can be made";
        return NULL;
    }
    const char *cpp = rg_format(a, "%s/kernel.cpp", folder);
    const char *so = rg_format(a, "%s/kernel.so", folder);
    bool keep = getenv("RETROGRAD_MSL_KEEP") != NULL;
    bool fine = write_file(cpp, &out) && compile(a, cpp, so, why);
    if (fine) {
        c->handle = dlopen(so, RTLD_NOW | RTLD_LOCAL);
        if (!c->handle)
            *why = rg_format(a, "%s", dlerror());
    } else if (!*why) {
        *why = "the Metal source cannot be written to a file";
    }
    if (keep)
        fprintf(stderr, "kept %s\n", cpp);
    if (!keep) {
        unlink(cpp);
        unlink(so);
        rmdir(folder);
    }
    if (!c->handle)
        return NULL;
    const void **is = dlsym(c->handle, "rg_msl_host_is");
    if (is)
        *is = &host;
    for (uint32_t i = 0; i < n; i++) {
        void *at = dlsym(c->handle, rg_format(a, "rg_msl_task_%u", i));
        memcpy(&c->tasks[i].run, &at, sizeof at);
        if (!at || !is) {
            *why = "the compiled kernel lacks its functions";
            msl_code_free(c);
            return NULL;
        }
        const uint32_t *w = tasks[i].workgroup;
        c->tasks[i].threads = w[0] * (w[1] ? w[1] : 1) * (w[2] ? w[2] : 1);
        c->tasks[i].waits = waits(tasks[i].text);
    }
    return c;
}

void msl_code_free(msl_code *c) {
    if (c && c->handle)
        dlclose(c->handle);
    if (c)
        c->handle = NULL;
}
