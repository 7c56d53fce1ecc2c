/* The host's walk over a program of tasks, on a device that only writes down what it is asked. Pure
 * instructions of stretches are evaluated; what a parallel loop gives comes from a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "retrograd.h"

#include "compile/compile.h"
#include "runtime/walk.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

typedef struct sim {
    rg_unit *unit;
    rg_arena *arena;
    const rg_fn *f;
    rg_task_plan *plan;
    rg_walk *walk;
    char trace[4000];
    size_t n;
    uint64_t slots[MOST];
    double gives[MOST]; /* what the reductions give, one after another */
    uint32_t given;
    uint32_t need[MOST]; /* what a task asks for at its dispatches */
    uint32_t asked;
} sim;

static void say(sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(sim *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(s->trace + s->n, sizeof s->trace - s->n, fmt, ap);
    va_end(ap);
    s->n += (size_t)n;
    assert_true(s->n < sizeof s->trace);
}

static rg_const value(sim *s, rg_val v) {
    rg_const c;
    uint32_t slot = s->plan->slot[v];
    if (slot)
        return rg_walk_from_bits(rg_type_of(s->f, v), s->slots[slot - 1]);
    assert_int_equal(rg_walk_value(s->walk, v, &c), RG_OK);
    return c;
}

static void run_stretch(sim *s, const rg_task *t) {
    static rg_const own[4096];
    static bool have[4096];
    memset(have, 0, sizeof have);
    for (uint32_t k = 0; k < t->stretch.n; k++) {
        rg_iid id = t->stretch.at[k];
        const rg_ins *i = rg_ins_at(s->f, id);
        if (!rg_op_is_pure((rg_op)i->op))
            continue;
        rg_const x[3] = {{.i = 0}};
        for (uint32_t o = 0; o < i->nopnd; o++) {
            rg_val v = rg_operand(s->f, id, o);
            x[o] = have[v] ? own[v] : value(s, v);
        }
        rg_val r = rg_result(s->f, id, 0);
        rg_eval((rg_op)i->op, rg_type_of(s->f, r),
                i->nopnd ? rg_type_of(s->f, rg_operand(s->f, id, 0)) : RG_VOID, i->imm.i, x,
                &own[r]);
        have[r] = true;
        if (s->plan->slot[r])
            s->slots[s->plan->slot[r] - 1] = rg_walk_bits(rg_type_of(s->f, r), own[r]);
    }
}

static rg_status dispatch(void *user, uint32_t t, uint64_t iterations) {
    sim *s = user;
    const rg_task *task = &s->plan->tasks.at[t];
    say(s, "run%u(%llu)", t, (unsigned long long)iterations);
    if (!task->parallel)
        run_stretch(s, task);
    for (uint32_t k = 0; task->parallel && k < task->outputs.n; k++) {
        rg_val v = task->outputs.at[k];
        rg_const c = value(s, v);
        if (rg_type_is_float(rg_type_of(s->f, v)))
            c.f += s->gives[s->given++];
        else
            c.i += (int64_t)s->gives[s->given++];
        s->slots[s->plan->slot[v] - 1] = rg_walk_bits(rg_type_of(s->f, v), c);
    }
    for (uint32_t k = 0; k < task->scratch.n; k++) {
        say(s, " room %llu", (unsigned long long)s->walk->scratch[t][k]);
        if (task->scratch.at[k].need)
            s->slots[task->scratch.at[k].need - 1] = s->need[s->asked++];
    }
    say(s, "; ");
    return RG_OK;
}

static rg_status alloc(void *user, rg_aid a, uint64_t bytes, uint64_t keep, bool zero) {
    sim *s = user;
    say(s, "alloc %s %llu%s%s; ", rg_array_at(s->f, a)->name, (unsigned long long)bytes,
        keep ? " keep" : "", zero ? " zero" : "");
    return RG_OK;
}

static rg_status copy(void *user, rg_aid to, uint64_t to_at, rg_aid from, uint64_t from_at,
                      uint64_t bytes) {
    sim *s = user;
    say(s, "copy %s+%llu %s+%llu %llu; ", rg_array_at(s->f, to)->name, (unsigned long long)to_at,
        rg_array_at(s->f, from)->name, (unsigned long long)from_at, (unsigned long long)bytes);
    return RG_OK;
}

static rg_status read_slot(void *user, uint32_t slot, uint64_t *bits) {
    sim *s = user;
    say(s, "read; ");
    *bits = s->slots[slot];
    return RG_OK;
}

static rg_status write_slot(void *user, uint32_t slot, uint64_t bits) {
    sim *s = user;
    assert_true(slot < MOST);
    s->slots[slot] = bits;
    return RG_OK;
}

static rg_status copy_slot(void *user, uint32_t to, uint32_t from) {
    sim *s = user;
    assert_true(to < s->walk->nslots && from < s->walk->nslots);
    s->slots[to] = s->slots[from];
    return RG_OK;
}

static rg_status save(void *user, uint32_t t) {
    say(user, "save%u; ", t);
    return RG_OK;
}

static rg_status restore(void *user, uint32_t t) {
    say(user, "restore%u; ", t);
    return RG_OK;
}

static void drop(void *user, uint32_t t) {
    say(user, "drop%u; ", t);
}

static rg_status fail_launch(void *user, rg_status status, rg_loc loc, const char *words) {
    (void)loc;
    say(user, "fail %s; ", words);
    return status;
}

static const rg_walk_ops ops = {dispatch,  alloc, copy,    read_slot, write_slot,
                                copy_slot, save,  restore, drop,      fail_launch};

static sim *open_sim(const char *text) {
    static sim s;
    memset(&s, 0, sizeof s);
    rg_compile_options o = {0};
    assert_int_equal(rg_unit_compile(NULL, "t.c", text, strlen(text), &o, &s.unit), RG_COMPILED);
    s.arena = rg_arena_new(NULL);
    assert_non_null(s.arena);
    assert_int_equal(RG_GUARD(s.arena), 0);
    s.f = s.unit->module->kernels.at[0];
    s.plan = rg_tasks_plan(s.arena, s.f);
    s.walk = rg_walk_new(s.arena, s.f, s.plan, &ops, &s);
    return &s;
}

static void close_sim(sim *s) {
    rg_arena_free(s->arena);
    rg_unit_free(s->unit);
}

static void run(sim *s, int64_t extent, const void *const *scalars, rg_status want) {
    for (uint32_t k = 1; k < s->f->arrays.n; k++)
        for (uint32_t x = 0; x < rg_array_at(s->f, k)->rank; x++)
            s->walk->extents[k][x] = extent;
    s->walk->scalars = scalars;
    s->n = 0;
    s->trace[0] = 0;
    assert_int_equal(rg_walk_run(s->walk), want);
}

static void steps(void **state) {
    (void)state;
    sim *s = open_sim("void sim(int n, int steps, float x[n], float v[n]) {\n"
                      "for (int t = 0; t < steps; t++) {\n"
                      "#pragma omp parallel for\n"
                      "for (int i = 0; i < n; i++) v[i] += x[i];\n"
                      "#pragma omp parallel for\n"
                      "for (int i = 0; i < n; i++) x[i] += v[i]; } }\n");
    int32_t n = 9, count = 2;
    const void *scalars[4] = {&n, &count};
    run(s, n, scalars, RG_OK);
    assert_string_equal(s->trace, "run0(9); run1(9); run0(9); run1(9); ");
    count = 0;
    run(s, n, scalars, RG_OK);
    assert_string_equal(s->trace, "");
    close_sim(s);
}

/* The condition is the device's: read back once in each iteration, and only that. */
static void until(void **state) {
    (void)state;
    sim *s = open_sim("void until(int n, float x[n], float limit, float out[1]) {\n"
                      "float s;\n"
                      "do { s = 1;\n"
                      "#pragma omp parallel for reduction(+:s)\n"
                      "for (int i = 0; i < n; i++) { s += x[i]; }\n"
                      "#pragma omp parallel for\n"
                      "for (int i = 0; i < n; i++) x[i] *= 0.5f;\n"
                      "} while (s > limit);\n"
                      "out[0] = s; }\n");
    int32_t n = 4;
    float limit = 3.5f;
    const void *scalars[4] = {&n, NULL, &limit, NULL};
    double gives[] = {8, 4, 2};
    memcpy(s->gives, gives, sizeof gives);
    run(s, n, scalars, RG_OK);
    assert_int_equal(s->given, 3);
    uint32_t reads = 0;
    for (const char *p = s->trace; (p = strstr(p, "read; ")) != NULL; p++)
        reads++;
    assert_int_equal(reads, 3);
    close_sim(s);
}

static void locals(void **state) {
    (void)state;
    sim *s = open_sim("void locals(int n, const float x[n], float y[n]) {\n"
                      "float tmp[n + 1];\n"
                      "#pragma omp parallel for\n"
                      "for (int i = 0; i < n; i++) tmp[i + 1] = x[i];\n"
                      "#pragma omp parallel for\n"
                      "for (int i = 0; i < n; i++) y[i] = tmp[n - i]; }\n");
    int32_t n = 7;
    const void *scalars[3] = {&n};
    run(s, n, scalars, RG_OK);
    assert_string_equal(s->trace, "alloc tmp 32; run0(7); run1(7); ");
    n = -5;
    run(s, 0, scalars, RG_ERROR_FAULT);
    assert_non_null(strstr(s->trace, "fail local array 'tmp' has a negative extent: -4"));
    close_sim(s);
}

/* Two carried values in slots that change places: neither may be overwritten before it is read. */
static void exchange(void **state) {
    (void)state;
    sim *s = open_sim("void exchange(int n, int m, const float x[n], float out[2]) {\n"
                      "float a = 1, b = 2;\n"
                      "for (int t = 0; t < m; t++) {\n"
                      "float s = 0;\n"
                      "#pragma omp parallel for reduction(+:s)\n"
                      "for (int i = 0; i < n; i++) s += x[i];\n"
                      "float c = a; a = b; b = c + s; }\n"
                      "out[0] = a; out[1] = b; }\n");
    int32_t n = 3, m = 3;
    const void *scalars[4] = {&n, &m};
    double gives[] = {10, 100, 1000};
    memcpy(s->gives, gives, sizeof gives);
    run(s, n, scalars, RG_OK);
    /* (1,2) (2,11) (11,102) (102,1011) */
    assert_null(strstr(s->trace, "read"));
    bool a = false, b = false;
    for (uint32_t k = 0; k < MOST; k++) {
        a |= rg_walk_from_bits(RG_F32, s->slots[k]).f == 102;
        b |= rg_walk_from_bits(RG_F32, s->slots[k]).f == 1011;
    }
    assert_true(a && b);
    close_sim(s);
}

static void choices(void **state) {
    (void)state;
    sim *s =
        open_sim("void choices(int n, int flag, float x[n]) {\n"
                 "if (flag > 3) {\n"
                 "#pragma omp parallel for\n"
                 "for (int i = 0; i < n; i++) x[i] = 1;\n"
                 "} else {\n"
                 "#pragma omp parallel for collapse(2)\n"
                 "for (int i = 0; i < n; i++) for (int k = 2; k < 5; k++) if (k == 2) x[i] = 2;"
                 "} }\n");
    int32_t n = 5, flag = 4;
    const void *scalars[3] = {&n, &flag};
    run(s, n, scalars, RG_OK);
    assert_string_equal(s->trace, "run0(5); ");
    flag = 3;
    run(s, n, scalars, RG_OK);
    assert_string_equal(s->trace, "run1(15); ");
    close_sim(s);
}

/* An array whose size only the device knows: what does not fit is run again with more room. */
static void needs(void **state) {
    (void)state;
    sim *s = open_sim("void needs(int n, const int m[n], float y[n]) {\n"
                      "#pragma omp parallel for\n"
                      "for (int i = 0; i < n; i++) {\n"
                      "float t[m[i]];\n"
                      "for (int k = 0; k < m[i]; k++) t[k] = k;\n"
                      "float s = 0;\n"
                      "for (int k = 0; k < m[i]; k++) s += t[m[i] - 1 - k] * t[k];\n"
                      "y[i] = s; } }\n");
    int32_t n = 6;
    const void *scalars[3] = {&n};
    s->need[0] = 1000;
    run(s, n, scalars, RG_OK);
    assert_string_equal(s->trace, "save0; run0(6) room 64; read; restore0; run0(6) room 1000; "
                                  "read; drop0; ");
    run(s, n, scalars, RG_OK); /* what was enough is remembered */
    assert_string_equal(s->trace, "save0; run0(6) room 1000; read; drop0; ");
    close_sim(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),    cmocka_unit_test(until),   cmocka_unit_test(locals),
        cmocka_unit_test(exchange), cmocka_unit_test(choices), cmocka_unit_test(needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
