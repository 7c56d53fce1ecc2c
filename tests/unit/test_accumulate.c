/* How gradient contributions accumulate: each kernel is run by the interpreter as it was, then
 * after the passes, which must leave it valid, free of races, and with the same results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ad/ad.h"
#include "ir/build.h"
#include "ir/interp.h"
#include "ir/print.h"
#include "ir/verify.h"

static rg_arena *arena;

static int setup(void **state) {
    (void)state;
    arena = rg_arena_new(NULL);
    return arena ? 0 : -1;
}
static int teardown(void **state) {
    (void)state;
    rg_arena_free(arena);
    return 0;
}

/* n, x[n], its gradient, y's gradient, a weight's (k_b[1]), a matrix's, and indices. */
static const char head[] = "kernel k adjoint\n"
                           "  param 0 n: i32\n"
                           "  param 1 x: const f32[?] @1.x\n"
                           "  param 2 y: f32[?] @2.y\n"
                           "  param 3 k: f32\n"
                           "  param 4 m: const f32[?][?] @6.m\n"
                           "  param 5 idx: const i32[?] @8.idx\n"
                           "  scalar $0: i32 of 0 at 0\n"
                           "  array @1.x: param 1 const f32[?]\n"
                           "  array @2.y: param 2 f32[?]\n"
                           "  array @3.x_b: shadow 1 grad f32[?]\n"
                           "  array @4.y_b: shadow 2 grad f32[?]\n"
                           "  array @5.k_b: shadow 3 grad f32[?]\n"
                           "  array @6.m: param 4 const f32[?, ?]\n"
                           "  array @7.m_b: shadow 4 grad f32[?, ?]\n"
                           "  array @8.idx: param 5 const i32[?]\n"
                           "{\n"
                           "  %1: i32 = scalar $0\n"
                           "  %3: i32 = const 0\n"
                           "  %4: i32 = const 1\n"
                           "  %5: f32 = const 2.0\n"
                           "  %6: i32 = sub %1, %4\n"
                           "  %7: i32 = const 2\n"
                           "  %8: i32 = sub %1, %7\n"
                           "  %9: i64 = const 0\n";

enum { N = 7 };
typedef struct memory {
    float x[N], y[N], x_b[N], y_b[N], k_b[1], m[N * N], m_b[N * N];
    int32_t idx[N];
} memory;

static void fill(memory *m, int32_t n) {
    memset(m, 0, sizeof *m);
    for (int k = 0; k < N; k++) {
        m->x[k] = (float)(k * k % 5 - 2);
        m->y_b[k] = (float)(k + 1) / 4;
        m->x_b[k] = (float)k;
        m->idx[k] = (k * 3 + 1) % (n > 0 ? n : 1);
    }
    for (int k = 0; k < N * N; k++) {
        m->m[k] = (float)(k * 7 % 11 - 5);
        m->m_b[k] = (float)(k % 3);
    }
    m->k_b[0] = 1;
}

static void run_with(const rg_fn *f, memory *m, int32_t n, int64_t extent, bool races) {
    int64_t ext[3] = {extent, extent, 1};
    rg_interp_array arrays[9] = {{0},           {m->x, ext},   {m->y, ext},
                                 {m->x_b, ext}, {m->y_b, ext}, {m->k_b, ext + 2},
                                 {m->m, ext},   {m->m_b, ext}, {m->idx, ext}};
    const void *scalars[6] = {&n};
    float k = 3;
    scalars[3] = &k;
    rg_interp_args args = {.arrays = arrays, .scalars = scalars, .races = races};
    rg_text out = {.arena = arena};
    rg_loc loc;
    if (!rg_interp(f, &args, &out, &loc))
        fail_msg("%s", rg_text_str(&out));
}

static void run(const rg_fn *f, memory *m, int32_t n, bool races) {
    run_with(f, m, n, n, races);
}

static void count(const rg_fn *f, rg_rid r, int flag, int *n) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        *n += (ins->flags & flag) != 0;
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                count(f, ins->region[j], flag, n);
    }
}
static int flagged(const rg_fn *f, int flag) {
    int n = 0;
    count(f, f->body, flag, &n);
    return n;
}

static bool racy; /* the kernel under test has a race of its own */

static const rg_fn *before; /* what `compile` read */

static const rg_fn *compile(const char *body, const rg_activity *act) {
    rg_sources *sources = rg_sources_new(arena);
    rg_diags d = {.arena = arena, .sources = sources};
    const char *text = rg_format(arena, "%s%s  yield\n}\n", head, body);
    rg_ir_module *module = rg_ir_read(arena, &d, "test", text, strlen(text));
    rg_text out = {.arena = arena};
    if (!module) {
        rg_diags_render(&d, &out);
        fail_msg("%s", rg_text_str(&out));
    }
    const rg_fn *f = module->kernels.at[0];
    if (!rg_ir_verify(f, &out))
        fail_msg("%s", rg_text_str(&out));
    rg_fn *g = rg_fn_clone(arena, f);
    bool changed = rg_ad_gather(g, act);
    if (!rg_ir_verify(g, &out)) {
        rg_ir_print(g, &out);
        fail_msg("gathered: %s", rg_text_str(&out));
    }
    changed |= rg_ad_accumulate(g, act);
    if (!rg_ir_verify(g, &out)) {
        rg_ir_print(g, &out);
        fail_msg("accumulated: %s", rg_text_str(&out));
    }
    assert_true(changed);
    assert_int_equal(flagged(g, RG_INS_ACCUM), 0);
    before = f;
    return g;
}

/* Runs the passes and compares; what is left is returned. */
static const rg_fn *check(const char *body, const rg_activity *act) {
    const rg_fn *g = compile(body, act), *f = before;
    rg_text out = {.arena = arena};
    for (int32_t n = 0; n <= N; n++) {
        memory a, b;
        fill(&a, n);
        b = a;
        run(f, &a, n, false);
        run(g, &b, n, !racy);
        const float *p = (const float *)(const void *)&a, *q = (const float *)(const void *)&b;
        for (size_t k = 0; k < offsetof(memory, idx) / sizeof(float); k++)
            if (fabsf(p[k] - q[k]) > 1e-5f * (1 + fabsf(p[k]))) {
                rg_ir_print(g, &out);
                fail_msg("n = %d, word %zu: %g, not %g\n%s", n, k, (double)q[k], (double)p[k],
                         rg_text_str(&out));
            }
    }
    if (getenv("RG_TEST_VERBOSE")) {
        rg_text show = {.arena = arena};
        rg_ir_print(g, &show);
        print_message("%s\n", rg_text_str(&show));
    }
    return g;
}

/* The kernel after the passes, with n that is not the arrays' extent, where it does nothing. */
static void check_nothing(const char *body, int32_t n) {
    memory a, b;
    fill(&a, N);
    fill(&b, N);
    run_with(compile(body, NULL), &a, n, N, true);
    assert_memory_equal(&a, &b, sizeof a);
}

static int atomics(const char *body) {
    return flagged(check(body, NULL), RG_INS_ATOMIC);
}

static void test_plain(void **state) {
    (void)state;
    assert_int_equal(atomics("  parallel %10: i32 = %3 to %1 {\n"
                             "    %11: f32 = load @4.y_b[%10]\n"
                             "    addto accum @3.x_b[%10] += %11\n"
                             "    %12: f32 = mul %11, %5\n"
                             "    addto accum @3.x_b[%10] += %12\n"
                             "    store @4.y_b[%10] = %5\n"
                             "    yield\n  }\n"),
                     0);
    /* rows of a matrix */
    assert_int_equal(atomics("  parallel %10: i32 = %3 to %1 {\n"
                             "    %11: f32 = load @4.y_b[%10]\n"
                             "    for %12: i32 = %3 to %1 {\n"
                             "      addto accum @7.m_b[%10, %12] += %11\n"
                             "      yield\n    }\n"
                             "    yield\n  }\n"),
                     0);
    /* outside of any parallel */
    assert_int_equal(atomics("  for %10: i32 = %3 to %1 {\n"
                             "    %11: i32 = load @8.idx[%10]\n"
                             "    addto accum @3.x_b[%11] += %5\n"
                             "    yield\n  }\n"),
                     0);
}

static void test_atomic(void **state) {
    (void)state;
    const char *scatter = "  parallel %10: i32 = %3 to %1 {\n"
                          "    %11: i32 = load @8.idx[%10]\n"
                          "    %12: f32 = load @4.y_b[%10]\n"
                          "    addto accum @3.x_b[%11] += %12\n"
                          "    yield\n  }\n";
    const rg_fn *g = check(scatter, NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 1);
    assert_int_equal(flagged(g, RG_INS_PRIVATE), 1);
    /* x and y bound to one array: its gradient is loaded and cleared here too */
    uint8_t active[6] = {0, 1, 1, 1, 1, 0};
    uint32_t group[6] = {0, 1, 1, 3, 4, 5};
    rg_activity act = {.nparams = 6, .active = active, .group = group};
    const char *same = "  parallel %10: i32 = %3 to %8 {\n"
                       "    %11: i32 = add %10, %4\n"
                       "    addto accum @3.x_b[%10] += %5\n"
                       "    addto accum @4.y_b[%11] += %5\n"
                       "    yield\n  }\n";
    assert_int_equal(flagged(check(same, NULL), RG_INS_ATOMIC), 0);
    assert_int_equal(flagged(check(same, &act), RG_INS_ATOMIC), 2);
}

static void test_reduction(void **state) {
    (void)state;
    const char *weight = "  parallel %10: i32 = %3 to %1 {\n"
                         "    %11: f32 = load @4.y_b[%10]\n"
                         "    addto accum @5.k_b[%9] += %11\n"
                         "    %12: f32 = load @1.x[%10]\n"
                         "    %13: f32 = const 0.0\n"
                         "    %14: bool = lt %12, %13\n"
                         "    if %14 {\n"
                         "      for %15: i32 = %3 to %10 {\n"
                         "        addto accum @5.k_b[%9] += %12\n"
                         "        yield\n      }\n"
                         "      yield\n    } else {\n      yield\n    }\n"
                         "    yield\n  }\n";
    const rg_fn *g = check(weight, NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 0);
    assert_int_equal(flagged(g, RG_INS_SCALARIZED), 1);
    /* an element that need not exist: x_b[n - 1] when n is 0 */
    g = check("  parallel %10: i32 = %3 to %1 {\n"
              "    %11: f32 = load @4.y_b[%10]\n"
              "    %12: i32 = sub %1, %4\n"
              "    addto accum @3.x_b[%12] += %11\n"
              "    yield\n  }\n",
              NULL);
    assert_int_equal(flagged(g, RG_INS_SCALARIZED), 1);
    /* carried by an inner loop, plain after it */
    g = check("  parallel %10: i32 = %3 to %1 {\n"
              "    for %11: i32 = %10 to %1 {\n"
              "      %12: f32 = load @4.y_b[%11]\n"
              "      addto accum @3.x_b[%10] += %12\n"
              "      yield\n    }\n"
              "    yield\n  }\n",
              NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 0);
    /* the gradient is read in the loop: nothing may be delayed */
    g = check("  for %10: i32 = %3 to %1 {\n"
              "    %11: f32 = load @3.x_b[%10]\n"
              "    addto accum @3.x_b[%3] += %11\n"
              "    yield\n  }\n",
              NULL);
    /* a while loop */
    g = check("  %30: i32 = loop carry %10: i32 = %3 {\n"
              "    addto accum @5.k_b[%3] += %5\n"
              "    %11: i32 = add %10, %4\n"
              "    %12: bool = lt %11, %1\n"
              "    yield %12, %11\n  }\n",
              NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 0);
}

/* y[i] = x[i-1] * x[i] + x[i+1], backward */
#define STENCIL(extra)                                                                             \
    "  parallel %10: i32 = %4 to %6 {\n"                                                           \
    "    %11: i32 = sub %10, %4\n"                                                                 \
    "    %12: i32 = add %10, %4\n"                                                                 \
    "    %13: f32 = load @1.x[%11]\n"                                                              \
    "    %14: f32 = load @1.x[%10]\n"                                                              \
    "    %15: f32 = load @4.y_b[%10]\n"                                                            \
    "    %16: f32 = const 0.0\n"                                                                   \
    "    store @4.y_b[%10] = %16\n"                                                                \
    "    addto accum @3.x_b[%12] += %15\n"                                                         \
    "    %17: f32 = mul %13, %15\n"                                                                \
    "    addto accum @3.x_b[%10] += %17\n"                                                         \
    "    %18: f32 = mul %14, %15\n"                                                                \
    "    addto accum @3.x_b[%11] += %18\n" extra "    yield\n  }\n"

static void test_gather(void **state) {
    (void)state;
    assert_int_equal(atomics(STENCIL("")), 0);
    /* under a condition, with a value chosen by another one */
    assert_int_equal(atomics("  parallel %10: i32 = %4 to %6 {\n"
                             "    %11: i32 = sub %10, %4\n"
                             "    %12: i32 = add %10, %4\n"
                             "    %13: f32 = load @1.x[%10]\n"
                             "    %14: f32 = const 0.0\n"
                             "    %15: bool = lt %13, %14\n"
                             "    %16: f32 = if %15 {\n"
                             "      %17: f32 = load @4.y_b[%10]\n"
                             "      yield %17\n"
                             "    } else {\n"
                             "      yield %5\n    }\n"
                             "    if %15 {\n"
                             "      addto accum @3.x_b[%11] += %16\n"
                             "      yield\n"
                             "    } else {\n"
                             "      %18: f32 = mul %16, %16\n"
                             "      addto accum @3.x_b[%12] += %18\n"
                             "      yield\n    }\n"
                             "    addto accum @3.x_b[%10] += %13\n"
                             "    yield\n  }\n"),
                     0);
    /* what the slices load is written by another iteration, or x_b is read: stays a scatter */
    racy = true;
    assert_int_equal(atomics(STENCIL("    store @4.y_b[%12] = %16\n")), 3);
    assert_int_equal(atomics(STENCIL("    %20: f32 = load @3.x_b[%10]\n")), 3);
    racy = false;
}

/* x_b[i - 1] and x_b[i + 1] where they are inside, x_b[0] in the first iteration */
#define GUARDED                                                                                    \
    "  parallel %10: i32 = %3 to %1 {\n"                                                           \
    "    %11: i32 = sub %10, %4\n"                                                                 \
    "    %12: i32 = add %10, %4\n"                                                                 \
    "    %13: bool = gt %10, %3\n"                                                                 \
    "    %14: bool = lt %10, %6\n"                                                                 \
    "    %15: f32 = load @4.y_b[%10]\n"                                                            \
    "    addto accum @3.x_b[%10] += %15\n"                                                         \
    "    if %13 {\n"                                                                               \
    "      addto accum @3.x_b[%11] += %15\n"                                                       \
    "      yield\n    } else {\n"                                                                  \
    "      %16: f32 = mul %15, %5\n"                                                               \
    "      addto accum @3.x_b[%3] += %16\n"                                                        \
    "      yield\n    }\n"                                                                         \
    "    if %14 {\n"                                                                               \
    "      addto accum @3.x_b[%12] += %15\n"                                                       \
    "      yield\n    } else {\n      yield\n    }\n"                                              \
    "    yield\n  }\n"

static void test_gather_guarded(void **state) {
    (void)state;
    const rg_fn *g = check(GUARDED, NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 0);
    assert_int_equal(flagged(g, RG_INS_GATHERED), 3);
    /* indices that a branch or a select chooses, two iterations that add to one element */
    g = check("  parallel %10: i32 = %3 to %1 {\n"
              "    %11: i32 = sub %10, %7\n"
              "    %13: bool = lt %11, %3\n"
              "    %14: i32 = select %13, %3, %11\n"
              "    %15: f32 = load @4.y_b[%10]\n"
              "    %16: bool = lt %10, %6\n"
              "    %17: i32 = if %16 {\n"
              "      %18: i32 = add %10, %4\n"
              "      yield %18\n    } else {\n      yield %6\n    }\n"
              "    addto accum @3.x_b[%14] += %15\n"
              "    addto accum @3.x_b[%17] += %15\n"
              "    yield\n  }\n",
              NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 0);
    /* one of two elements on another axis: those are not told apart */
    assert_int_equal(atomics("  parallel %10: i32 = %4 to %6 {\n"
                             "    %11: i32 = sub %10, %4\n"
                             "    %13: f32 = load @1.x[%10]\n"
                             "    %14: f32 = const 0.0\n"
                             "    %15: bool = lt %13, %14\n"
                             "    %16: i32 = select %15, %3, %4\n"
                             "    addto accum @7.m_b[%16, %10] += %13\n"
                             "    addto accum @7.m_b[%16, %11] += %13\n"
                             "    yield\n  }\n"),
                     2);
    /* a guard that another iteration writes */
    racy = true;
    assert_int_equal(atomics("  parallel %10: i32 = %4 to %6 {\n"
                             "    %11: i32 = sub %10, %4\n"
                             "    %13: f32 = load @2.y[%10]\n"
                             "    %14: bool = lt %13, %5\n"
                             "    if %14 {\n"
                             "      addto accum @3.x_b[%10] += %5\n"
                             "      addto accum @3.x_b[%11] += %5\n"
                             "      store @2.y[%11] = %5\n"
                             "      yield\n    } else {\n      yield\n    }\n"
                             "    yield\n  }\n"),
                     2);
    racy = false;
}

/* At the ends of the type nothing wraps: a loop that has no iteration stays without, and one that
 * ends at the largest number is done to its end. */
static void test_gather_limits(void **state) {
    (void)state;
    check_nothing(GUARDED, INT32_MIN);
    check_nothing(GUARDED, INT32_MIN + 1);
    check_nothing(GUARDED, -1);
    check_nothing(STENCIL(""), INT32_MIN + 1); /* its end is n - 1 */
    /* iterations n - 6 to n, elements 0 to 6 of x, guarded by idx */
    const char *high = "  %40: i32 = const 6\n"
                       "  %41: i32 = sub %1, %40\n"
                       "  parallel %10: i32 = %41 to %1 {\n"
                       "    %11: i32 = sub %10, %41\n"
                       "    %12: i32 = add %11, %4\n"
                       "    %13: f32 = load @4.y_b[%11]\n"
                       "    %14: i32 = load @8.idx[%11]\n"
                       "    %15: bool = ge %14, %7\n"
                       "    addto accum @3.x_b[%11] += %13\n"
                       "    if %15 {\n"
                       "      addto accum @3.x_b[%12] += %13\n"
                       "      yield\n    } else {\n      yield\n    }\n"
                       "    yield\n  }\n";
    const int32_t n[3] = {N, 1000, INT32_MAX};
    const rg_fn *g = compile(high, NULL);
    assert_int_equal(flagged(g, RG_INS_ATOMIC), 0);
    for (int k = 0; k < 3; k++) {
        memory a, b;
        fill(&a, N);
        fill(&b, N);
        run_with(before, &a, n[k], N, false);
        run_with(g, &b, n[k], N, true);
        assert_true(a.x_b[N - 1] > (float)(N - 1));
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void test_gather_two_axes(void **state) {
    (void)state;
    const char *five = "  parallel %10: i32 = %4 to %6, %20: i32 = %4 to %6 {\n"
                       "    %11: i32 = sub %10, %4\n"
                       "    %12: i32 = add %10, %4\n"
                       "    %21: i32 = sub %20, %4\n"
                       "    %22: i32 = add %20, %4\n"
                       "    %13: f32 = load @6.m[%10, %20]\n"
                       "    %14: f32 = load @4.y_b[%10]\n"
                       "    %15: f32 = mul %13, %14\n"
                       "    addto accum @7.m_b[%10, %20] += %15\n"
                       "    addto accum @7.m_b[%11, %20] += %14\n"
                       "    addto accum @7.m_b[%12, %20] += %13\n"
                       "    addto accum @7.m_b[%10, %21] += %14\n"
                       "    addto accum @7.m_b[%10, %22] += %5\n"
                       "    addto accum @7.m_b[%12, %22] += %5\n"
                       "    yield\n  }\n";
    assert_int_equal(atomics(five), 0);
    /* transposed, and a row that does not move */
    assert_int_equal(atomics("  parallel %10: i32 = %3 to %6 {\n"
                             "    %12: i32 = add %10, %4\n"
                             "    %14: f32 = load @4.y_b[%10]\n"
                             "    addto accum @7.m_b[%3, %10] += %14\n"
                             "    addto accum @7.m_b[%3, %12] += %14\n"
                             "    yield\n  }\n"),
                     0);
}

/* A history: row 1 collects from row 2, which is loaded and cleared here. */
static void test_gather_history(void **state) {
    (void)state;
    assert_int_equal(atomics("  for reverse %30: i32 = %3 to %6 {\n"
                             "    %31: i32 = add %30, %4\n"
                             "    parallel %10: i32 = %4 to %6 {\n"
                             "      %11: i32 = sub %10, %4\n"
                             "      %12: i32 = add %10, %4\n"
                             "      %13: f32 = load @6.m[%30, %10]\n"
                             "      %14: f32 = load @7.m_b[%31, %10]\n"
                             "      %16: f32 = const 0.0\n"
                             "      store @7.m_b[%31, %10] = %16\n"
                             "      %15: f32 = mul %13, %14\n"
                             "      addto accum @7.m_b[%30, %11] += %14\n"
                             "      addto accum @7.m_b[%30, %12] += %15\n"
                             "      yield\n    }\n"
                             "    yield\n  }\n"),
                     0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_plain),           TEST(test_atomic),
                                       TEST(test_reduction),       TEST(test_gather),
                                       TEST(test_gather_two_axes), TEST(test_gather_history),
                                       TEST(test_gather_guarded),  TEST(test_gather_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
