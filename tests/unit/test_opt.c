/* The optimisation passes: what each must do to small functions in the text form, and random
 * functions that must compute the same bits after every pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ir/interp.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "opt/opt.h"

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

/* --- running --------------------------------------------------------------------------------- */

enum { N = 8, NARRAYS = 6 };

/* Memory of the frame's arrays: x y z (f32[8]), m (i32[8]), e (f32[1]), c (i32[1]). */
typedef union cell {
    float f;
    int32_t i;
} cell;
typedef struct memory {
    cell at[NARRAYS][N];
} memory;

static void fill(memory *m, uint32_t seed) {
    for (int a = 0; a < NARRAYS; a++)
        for (int k = 0; k < N; k++) {
            seed = seed * 1664525u + 1013904223u;
            if (a == 3 || a == 5)
                m->at[a][k].i = (int32_t)(seed >> 28);
            else
                m->at[a][k].f = (float)(int32_t)(seed >> 20) / 256.0f - 8.0f;
        }
}

static const char *run(const rg_fn *f, memory *m, int32_t n, float k) {
    static const int64_t eight = N, one = 1;
    rg_interp_array arrays[16] = {{0}};
    for (uint32_t a = 0; a < NARRAYS; a++)
        arrays[a + 1] = (rg_interp_array){m->at[a], a < 4 ? &eight : &one};
    const void *scalars[8] = {[6] = &n, [7] = &k};
    rg_interp_args args = {.arrays = arrays, .scalars = scalars, .max_steps = 1000000};
    rg_text out = {.arena = arena};
    rg_loc loc;
    rg_interp(f, &args, &out, &loc);
    return rg_text_str(&out);
}

static void assert_valid(const rg_fn *f, const char *pass) {
    rg_text out = {.arena = arena};
    if (rg_ir_verify(f, &out))
        return;
    rg_ir_print(f, &out);
    fail_msg("after %s: %s", pass, rg_text_str(&out));
}

static const char *text_of(const rg_fn *f) {
    rg_text out = {.arena = arena};
    rg_ir_print(f, &out);
    return rg_text_str(&out);
}

static void assert_same(const rg_fn *before, const rg_fn *after, const char *pass) {
    for (int32_t n = 0; n < 4; n++) {
        memory a, b;
        fill(&a, (uint32_t)n);
        fill(&b, (uint32_t)n);
        const char *x = run(before, &a, n, 1.5f), *y = run(after, &b, n, 1.5f);
        /* What a program that faults leaves behind may differ. */
        if (*x)
            continue;
        if (*y || memcmp(&a, &b, sizeof a) != 0)
            fail_msg("after %s, n = %d: %s\n%s\nbecame\n%s", pass, n, y, text_of(before),
                     text_of(after));
    }
}

/* --- counting ----------------------------------------------------------------------------------
 */

static uint32_t count_in(const rg_fn *f, rg_rid r, rg_op op) {
    const rg_region *g = rg_region_at(f, r);
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        n += ins->op == op;
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                n += count_in(f, ins->region[s], op);
    }
    return n;
}
static uint32_t count(const rg_fn *f, rg_op op) {
    return count_in(f, f->body, op);
}
static rg_iid first_in(const rg_fn *f, rg_rid r, rg_op op) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->op == op)
            return g->ins.at[k];
        for (int s = 0; s < 2; s++) {
            rg_iid i = ins->region[s] ? first_in(f, ins->region[s], op) : 0;
            if (i)
                return i;
        }
    }
    return 0;
}
static rg_iid first(const rg_fn *f, rg_op op) {
    return first_in(f, f->body, op);
}

/* --- the frame that bodies are put into ----------------------------------------------------------
 */

/* %1 n, %2 k, %3 0, %4 1, %5 0.0, %6 1.0, %7 8 */
static rg_fn *frame(const char *locals, const char *body) {
    const char *text = rg_format(arena,
                                 "kernel t primal  ; t.c:1:1\n"
                                 " param 0 x: const f32[8] @1\n"
                                 " param 1 y: f32[8] @2\n"
                                 " param 2 z: f32[8] @3\n"
                                 " param 3 m: i32[8] @4\n"
                                 " param 4 e: f32[1] @5\n"
                                 " param 5 c: i32[1] @6\n"
                                 " param 6 n: i32\n"
                                 " param 7 k: f32\n"
                                 " scalar $0: i32 of 6 at 0\n"
                                 " scalar $1: f32 of 7 at 0\n"
                                 " array @1.x: param 0 const f32[%%8]\n"
                                 " array @2.y: param 1 written f32[%%8]\n"
                                 " array @3.z: param 2 written f32[%%8]\n"
                                 " array @4.m: param 3 written i32[%%8]\n"
                                 " array @5.e: param 4 written f32[%%9]\n"
                                 " array @6.c: param 5 written i32[%%9]\n"
                                 "%s"
                                 "{\n"
                                 " %%1.n: i32 = scalar $0\n"
                                 " %%2.k: f32 = scalar $1\n"
                                 " %%3: i32 = const 0\n"
                                 " %%4: i32 = const 1\n"
                                 " %%5: f32 = const 0.0\n"
                                 " %%6: f32 = const 1.0\n"
                                 " %%7: i32 = const 8\n"
                                 " %%8: i64 = const 8\n"
                                 " %%9: i64 = const 1\n"
                                 "%s"
                                 " yield\n"
                                 "}\n",
                                 locals, body);
    rg_diags d = {.arena = arena};
    rg_text out = {.arena = arena};
    rg_module *m = rg_ir_read(arena, &d, "t.ir", text, strlen(text));
    rg_diags_render(&d, &out);
    if (!m)
        fail_msg("%s", rg_text_str(&out));
    assert_valid(m->kernels.at[0], "reading");
    return m->kernels.at[0];
}

typedef struct watch {
    const rg_fn *before;
} watch;

static void after(void *user, rg_fn *f, const char *pass) {
    const watch *w = user;
    assert_valid(f, pass);
    assert_same(w->before, f, pass);
}

static rg_fn *optimise(const char *locals, const char *body) {
    rg_fn *f = frame(locals, body);
    watch w = {rg_fn_clone(arena, f)};
    rg_opt_options o = {.after = after, .user = &w};
    rg_opt_run(f, &o);
    return f;
}

static rg_fn *pass_alone(bool (*pass)(rg_fn *), const char *locals, const char *body) {
    rg_fn *f = frame(locals, body);
    const rg_fn *before = rg_fn_clone(arena, f);
    pass(f);
    assert_valid(f, "the pass");
    assert_same(before, f, "the pass");
    return f;
}

/* --- promotion
 * ------------------------------------------------------------------------------------ */

static void test_scalar_locals(void **state) {
    (void)state;
    /* float s; for (i < n) { if (x[i] > 0) s += x[i]; } y[0] = s; with s zero before */
    rg_fn *f = optimise(" array @7.s: local f32[]\n", " alloc @7[]\n"
                                                      " store @7[] = %5\n"
                                                      " for %20.i: i32 = %3 to %1 {\n"
                                                      "  %21: f32 = load @1[%20]\n"
                                                      "  %22: bool = gt %21, %5\n"
                                                      "  if %22 {\n"
                                                      "   addto @7[] += %21\n"
                                                      "   yield\n"
                                                      "  } else {\n"
                                                      "   yield\n"
                                                      "  }\n"
                                                      "  yield\n"
                                                      " }\n"
                                                      " %23: f32 = load @7[]\n"
                                                      " store @2[%3] = %23\n");
    assert_int_equal(count(f, RG_ALLOC), 0);
    assert_int_equal(count(f, RG_LOAD), 1);
    assert_int_equal(count(f, RG_STORE), 1);
    assert_int_equal(rg_ins_at(f, first(f, RG_FOR))->nres, 1);
}

static void test_loop_element(void **state) {
    (void)state;
    /* for (j < n) y[m[0] & 7] += x[j]: one load and one store, if n > 0 */
    rg_fn *f = optimise("", " %10: i32 = load @4[%3]\n"
                            " %11: i32 = const 7\n"
                            " %12: i32 = and %10, %11\n"
                            " for %20.j: i32 = %3 to %1 {\n"
                            "  %21: f32 = load @1[%20]\n"
                            "  addto @2[%12] += %21\n"
                            "  yield\n"
                            " }\n");
    assert_int_equal(count(f, RG_ADDTO), 0);
    assert_int_equal(count(f, RG_STORE), 1);
    assert_int_equal(count(f, RG_LOAD), 3);
    assert_int_equal(count(f, RG_IF), 1);
    assert_int_equal(rg_ins_at(f, first(f, RG_FOR))->nres, 1);
}

static void test_conditional_store_stays(void **state) {
    (void)state;
    /* in a parallel, a store that may not happen must not be made to happen */
    rg_fn *f = optimise("", " parallel %20.i: i32 = %3 to %7 {\n"
                            "  for %21.j: i32 = %3 to %1 {\n"
                            "   %22: f32 = load @1[%21]\n"
                            "   %23: bool = gt %22, %5\n"
                            "   if %23 {\n"
                            "    store @2[%20] = %22\n"
                            "    yield\n"
                            "   } else {\n"
                            "    yield\n"
                            "   }\n"
                            "   yield\n"
                            "  }\n"
                            "  yield\n"
                            " }\n");
    assert_int_equal(count(f, RG_STORE), 1);
    assert_int_equal(rg_ins_at(f, first(f, RG_FOR))->nres, 0);
}

static void test_written_before(void **state) {
    (void)state;
    /* y[i] = 0; for (j < n) if (x[j] > 0) y[i] += x[j]; if (k > 0) y[i] *= k: one store */
    rg_fn *f = optimise("", " parallel %20.i: i32 = %3 to %7 {\n"
                            "  store @2[%20] = %5\n"
                            "  for %21.j: i32 = %3 to %1 {\n"
                            "   %22: f32 = load @1[%21]\n"
                            "   %23: bool = gt %22, %5\n"
                            "   if %23 {\n"
                            "    addto @2[%20] += %22\n"
                            "    yield\n"
                            "   } else {\n"
                            "    yield\n"
                            "   }\n"
                            "   yield\n"
                            "  }\n"
                            "  %24: bool = gt %2, %5\n"
                            "  if %24 {\n"
                            "   %25: f32 = load @2[%20]\n"
                            "   %26: f32 = mul %25, %2\n"
                            "   store @2[%20] = %26\n"
                            "   yield\n"
                            "  } else {\n"
                            "   yield\n"
                            "  }\n"
                            "  yield\n"
                            " }\n");
    assert_int_equal(count(f, RG_STORE), 1);
    assert_int_equal(count(f, RG_ADDTO), 0);
    assert_int_equal(count(f, RG_LOAD), 1);
    assert_int_equal(rg_ins_at(f, first(f, RG_STORE))->parent,
                     rg_ins_at(f, first(f, RG_PARALLEL))->region[0]);
}

static void test_loop_sum(void **state) {
    (void)state;
    /* parallel i: for (j < n) atomic m[i] += j: one atomic for each i, if n > 0 */
    rg_fn *f = optimise("", " parallel %20.i: i32 = %3 to %7 {\n"
                            "  for %21.j: i32 = %3 to %1 {\n"
                            "   addto atomic @4[%20] += %21\n"
                            "   yield\n"
                            "  }\n"
                            "  yield\n"
                            " }\n");
    assert_int_equal(rg_ins_at(f, first(f, RG_ADDTO))->flags, RG_INS_ATOMIC);
    assert_int_equal(rg_ins_at(f, first(f, RG_FOR))->nres, 1);
    assert_int_equal(rg_ins_at(f, first(f, RG_ADDTO))->parent,
                     rg_ins_at(f, first(f, RG_IF))->region[0]);
}

static void test_shared_gradients_stay(void **state) {
    (void)state;
    /* Gradients of two parameters that are only read may be one array: neither is kept in a
     * register while the other is added to. */
    const char *text = "kernel t adjoint  ; t.c:1:1\n"
                       " param 0 x: const f32[?] @1\n"
                       " param 1 y: const f32[?] @2\n"
                       " param 2 n: i32\n"
                       " scalar $0: i32 of 2 at 0\n"
                       " array @1.x: param 0 const f32[?]\n"
                       " array @2.y: param 1 const f32[?]\n"
                       " array @3.x_b: shadow 0 grad f32[?]\n"
                       " array @4.y_b: shadow 1 grad f32[?]\n"
                       "{\n"
                       " %1: i32 = scalar $0\n"
                       " %2: i32 = const 0\n"
                       " %3: f32 = const 1.0\n"
                       " for %4: i32 = %2 to %1 {\n"
                       "  addto @3[%2] += %3\n"
                       "  addto @4[%2] += %3\n"
                       "  yield\n"
                       " }\n"
                       " yield\n"
                       "}\n";
    rg_diags d = {.arena = arena};
    rg_module *m = rg_ir_read(arena, &d, "t.ir", text, strlen(text));
    assert_non_null(m);
    rg_fn *f = m->kernels.at[0];
    rg_opt_run(f, NULL);
    assert_valid(f, "run");
    assert_int_equal(count(f, RG_ADDTO), 2);
    assert_int_equal(count(f, RG_STORE), 0);
}

static void test_small_array(void **state) {
    (void)state;
    /* float a[3]; for (i < 3) a[i] = x[i] * k; y[0] = a[0] + a[1]: unrolled, no array left */
    rg_fn *f = optimise(" array @7.a: local f32[*]\n", " %10: i64 = const 3\n"
                                                       " alloc @7[%10]\n"
                                                       " %11: i32 = const 3\n"
                                                       " for %20.i: i32 = %3 to %11 {\n"
                                                       "  %21: f32 = load @1[%20]\n"
                                                       "  %22: f32 = mul %21, %2\n"
                                                       "  store @7[%20] = %22\n"
                                                       "  yield\n"
                                                       " }\n"
                                                       " %30: f32 = load @7[%3]\n"
                                                       " %31: f32 = load @7[%4]\n"
                                                       " %32: f32 = add %30, %31\n"
                                                       " store @2[%3] = %32\n");
    assert_int_equal(count(f, RG_FOR), 0);
    assert_int_equal(count(f, RG_ALLOC), 0);
    assert_int_equal(count(f, RG_LOAD), 2);
    assert_int_equal(count(f, RG_MUL), 2);
}

static void test_atomic_to_reduction(void **state) {
    (void)state;
    rg_fn *f = optimise("", " parallel %20.i: i32 = %3 to %1 {\n"
                            "  %21: i32 = load @4[%20]\n"
                            "  %22: bool = gt %21, %4\n"
                            "  if %22 {\n"
                            "   addto atomic @6[%3] += %21\n"
                            "   yield\n"
                            "  } else {\n"
                            "   yield\n"
                            "  }\n"
                            "  yield\n"
                            " }\n");
    rg_iid p = first(f, RG_PARALLEL), a = first(f, RG_ADDTO);
    assert_int_equal(rg_ins_at(f, p)->nres, 1);
    assert_int_equal(rg_ins_at(f, a)->flags, RG_INS_SCALARIZED);
    assert_int_equal(rg_ins_at(f, a)->parent, f->body);
    /* a conditional one whose element may not exist stays */
    f = optimise("", " parallel %20.i: i32 = %3 to %1 {\n"
                     "  %21: i32 = load @4[%20]\n"
                     "  %22: bool = gt %21, %4\n"
                     "  if %22 {\n"
                     "   addto atomic @4[%1] += %21\n"
                     "   yield\n"
                     "  } else {\n"
                     "   yield\n"
                     "  }\n"
                     "  yield\n"
                     " }\n");
    assert_int_equal(rg_ins_at(f, first(f, RG_PARALLEL))->nres, 0);
    /* an unconditional one is made only if there was an iteration */
    f = optimise("", " parallel %20.i: i32 = %3 to %1 {\n"
                     "  addto atomic @4[%1] += %20\n"
                     "  yield\n"
                     " }\n");
    assert_int_equal(rg_ins_at(f, first(f, RG_PARALLEL))->nres, 1);
    assert_int_equal(count(f, RG_IF), 1);
}

static void test_forwarding(void **state) {
    (void)state;
    /* y[n] = x[0]; y[n + 1] = k; z[0] = y[n]; z[0] = y[n] + z[0] */
    rg_fn *f = pass_alone(rg_opt_promote, "",
                          " %10: f32 = load @1[%3]\n"
                          " store @2[%1] = %10\n"
                          " %11: i32 = add %1, %4\n"
                          " store @2[%11] = %2\n"
                          " %12: f32 = load @2[%1]\n"
                          " store @3[%3] = %12\n"
                          " %13: f32 = load @2[%1]\n"
                          " %14: f32 = load @3[%3]\n"
                          " %15: f32 = add %13, %14\n"
                          " store @3[%3] = %15\n");
    assert_int_equal(count(f, RG_LOAD), 1);
    assert_int_equal(count(f, RG_STORE), 3);
    /* an index that may be the same one */
    f = pass_alone(rg_opt_promote, "",
                   " %10: i32 = load @4[%3]\n"
                   " %11: i32 = const 7\n"
                   " %12: i32 = and %10, %11\n"
                   " store @2[%1] = %2\n"
                   " store @2[%12] = %5\n"
                   " %13: f32 = load @2[%1]\n"
                   " store @3[%3] = %13\n");
    assert_int_equal(count(f, RG_LOAD), 2);
}

static void test_addto(void **state) {
    (void)state;
    rg_fn *f = optimise("", " %10: f32 = load @2[%1]\n"
                            " %11: f32 = sub %10, %2\n"
                            " store @2[%1] = %11\n");
    assert_int_equal(count(f, RG_ADDTO), 1);
    assert_int_equal(count(f, RG_LOAD), 0);
    assert_int_equal(count(f, RG_NEG), 1);
    /* k - y[n] is none; nor is a sum that is used again */
    f = optimise("", " %10: f32 = load @2[%1]\n"
                     " %11: f32 = sub %2, %10\n"
                     " store @2[%1] = %11\n"
                     " %12: f32 = load @3[%1]\n"
                     " %13: f32 = add %12, %2\n"
                     " store @3[%1] = %13\n"
                     " store @3[%3] = %13\n");
    assert_int_equal(count(f, RG_ADDTO), 0);
}

/* --- other passes
 * --------------------------------------------------------------------------------- */

static void test_dce(void **state) {
    (void)state;
    /* a carried value that only feeds itself, an array that is only written, a dead loop */
    rg_fn *f = pass_alone(rg_opt_dce, " array @7.s: local f32[*]\n",
                          " alloc @7[%8]\n"
                          " %18: f32, %19: f32 = for %20.i: i32 = %3 to %1 carry %21: f32 = %5, "
                          "%22: f32 = %6 {\n"
                          "  %23: f32 = mul %21, %2\n"
                          "  %24: f32 = add %22, %2\n"
                          "  store @7[%20] = %23\n"
                          "  yield %23, %24\n"
                          " }\n"
                          " %30: f32 = loop carry %31: f32 = %5 {\n"
                          "  %32: f32 = add %31, %6\n"
                          "  %33: bool = lt %32, %2\n"
                          "  yield %33, %32\n"
                          " }\n"
                          " store @2[%3] = %19\n");
    assert_int_equal(count(f, RG_ALLOC), 0);
    assert_int_equal(count(f, RG_LOOP), 0);
    assert_int_equal(rg_ins_at(f, first(f, RG_FOR))->nres, 1);
    assert_int_equal(count(f, RG_MUL), 0);
}

static void test_fold_structure(void **state) {
    (void)state;
    rg_fn *f = pass_alone(rg_opt_fold, "",
                          " %10: bool = gt %1, %3\n"
                          " %11: f32 = if %10 {\n"
                          "  yield %2\n"
                          " } else {\n"
                          "  yield %5\n"
                          " }\n"
                          " store @2[%3] = %11\n"
                          " if %10 {\n"
                          "  if %10 {\n"
                          "   store @3[%3] = %2\n"
                          "   yield\n"
                          "  } else {\n"
                          "   store @3[%3] = %5\n"
                          "   yield\n"
                          "  }\n"
                          "  yield\n"
                          " } else {\n"
                          "  yield\n"
                          " }\n"
                          " %20: f32 = for %21: i32 = %3 to %4 carry %22: f32 = %2 {\n"
                          "  %23: f32 = mul %22, %22\n"
                          "  yield %23\n"
                          " }\n"
                          " %30: bool = const false\n"
                          " %31: f32 = loop carry %32: f32 = %20 {\n"
                          "  %33: f32 = mul %32, %2\n"
                          "  yield %30, %33\n"
                          " }\n"
                          " store @2[%4] = %31\n");
    assert_int_equal(count(f, RG_SELECT), 1);
    assert_int_equal(count(f, RG_IF), 1);
    assert_int_equal(count(f, RG_FOR), 0);
    assert_int_equal(count(f, RG_LOOP), 0);
    /* a branch that computes is no select */
    f = optimise("", " %10: bool = gt %2, %5\n"
                     " %11: f32 = if %10 {\n"
                     "  %12: f32 = sqrt %2\n"
                     "  yield %12\n"
                     " } else {\n"
                     "  yield %5\n"
                     " }\n"
                     " store @2[%3] = %11\n");
    assert_int_equal(count(f, RG_IF), 1);
}

static void test_cse(void **state) {
    (void)state;
    rg_fn *f = pass_alone(rg_opt_cse, "",
                          " %10: f32 = load @1[%3]\n"
                          " %11: f32 = load @2[%3]\n"
                          " %12: f32 = add %10, %2\n"
                          " store @2[%4] = %12\n"
                          " %13: f32 = load @1[%3]\n"
                          " %14: f32 = load @2[%3]\n"
                          " %15: f32 = add %2, %13\n"
                          " %16: f32 = add %15, %14\n"
                          " store @3[%4] = %16\n"
                          " store @3[%3] = %11\n");
    assert_int_equal(count(f, RG_LOAD), 3);
    assert_int_equal(count(f, RG_ADD), 2);
}

static void test_licm(void **state) {
    (void)state;
    rg_fn *f = pass_alone(rg_opt_licm, "",
                          " for %20.i: i32 = %3 to %1 {\n"
                          "  %21: f32 = mul %2, %2\n"
                          "  %22: f32 = load @1[%1]\n"
                          "  %23: f32 = mul %22, %21\n"
                          "  %24: i32 = div %7, %1\n"
                          "  store @2[%20] = %23\n"
                          "  store @4[%20] = %24\n"
                          "  yield\n"
                          " }\n");
    rg_iid branch = first(f, RG_IF), loop = first(f, RG_FOR);
    assert_true(branch != 0);
    rg_rid then = rg_ins_at(f, branch)->region[0];
    assert_int_equal(rg_ins_at(f, loop)->parent, then);
    assert_int_equal(rg_ins_at(f, first(f, RG_LOAD))->parent, then);
    assert_int_equal(rg_ins_at(f, first(f, RG_DIV))->parent, then);
    assert_int_equal(rg_ins_at(f, first(f, RG_MUL))->parent, f->body);
}

static void test_indvar(void **state) {
    (void)state;
    rg_fn *f = optimise("", " %10: i32 = const 3\n"
                            " %19: i32 = for %20.i: i32 = %3 to %1 carry %21: i32 = %4 {\n"
                            "  store @4[%20] = %21\n"
                            "  %22: i32 = add %21, %10\n"
                            "  yield %22\n"
                            " }\n"
                            " store @6[%3] = %19\n");
    assert_int_equal(rg_ins_at(f, first(f, RG_FOR))->nres, 0);
}

static void test_while_shape(void **state) {
    (void)state;
    /* int i = 0; while (i < n) { y[i] = x[i]; i++; } keeps its meaning */
    optimise(" array @7.i: local i32[]\n", " alloc @7[]\n"
                                           " store @7[] = %3\n"
                                           " loop {\n"
                                           "  %20: i32 = load @7[]\n"
                                           "  %21: bool = lt %20, %1\n"
                                           "  if %21 {\n"
                                           "   %22: f32 = load @1[%20]\n"
                                           "   store @2[%20] = %22\n"
                                           "   %23: i32 = add %20, %4\n"
                                           "   store @7[] = %23\n"
                                           "   yield\n"
                                           "  } else {\n"
                                           "   yield\n"
                                           "  }\n"
                                           "  yield %21\n"
                                           " }\n");
}

/* --- random functions
 * ------------------------------------------------------------------------------- */

typedef struct gen {
    rg_build *b;
    rg_fn *f;
    uint64_t seed;
    rg_aid real[4], whole[3], small, pair[2]; /* locals: f32, i32, f32[4], struct */
    rg_val iv[6];                             /* loop variables around */
    uint32_t niv;
    rg_val own; /* in a parallel: the element that this iteration may write */
    uint32_t size;
    const rg_elem *pair_type;
} gen;

static uint32_t rnd(gen *g, uint32_t n) {
    g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->seed >> 33) % n;
}

static rg_val index_of(gen *g, uint32_t n) {
    rg_build *b = g->b;
    rg_val v;
    switch (rnd(g, 4)) {
    case 0:
        return rg_b_int(b, RG_I32, (int64_t)rnd(g, n));
    case 1:
        v = rg_b_load(b, g->whole[rnd(g, 3)], 0, NULL, 0);
        break;
    default:
        if (!g->niv)
            return rg_b_int(b, RG_I32, (int64_t)rnd(g, n));
        v = g->iv[rnd(g, g->niv)];
        if (rnd(g, 2))
            v = rg_b_op2(b, RG_ADD, v, rg_b_int(b, RG_I32, 1));
        break;
    }
    return rg_b_op2(b, RG_AND, v, rg_b_int(b, RG_I32, n - 1));
}

static rg_val whole_value(gen *g, int depth) {
    rg_build *b = g->b;
    if (depth <= 0 || rnd(g, 3) == 0) {
        switch (rnd(g, 4)) {
        case 0:
            return rg_b_int(b, RG_I32, (int64_t)rnd(g, 5) - 1);
        case 1:
            return rg_b_scalar(b, 0);
        case 2:
            return g->niv ? g->iv[rnd(g, g->niv)] : rg_b_int(b, RG_I32, 2);
        default:
            return rg_b_load(b, g->whole[rnd(g, 3)], 0, NULL, 0);
        }
    }
    static const rg_op ops[] = {RG_ADD, RG_SUB, RG_MUL, RG_AND, RG_XOR};
    rg_val x = whole_value(g, depth - 1), y = whole_value(g, depth - 1);
    if (rnd(g, 8) == 0) {
        rg_val two = rg_b_int(b, RG_I32, 3);
        return rg_b_op2(b, rnd(g, 2) ? RG_DIV : RG_REM, x, two);
    }
    return rg_b_op2(b, ops[rnd(g, 5)], x, y);
}

static rg_val real_value(gen *g, int depth) {
    rg_build *b = g->b;
    if (depth <= 0 || rnd(g, 3) == 0) {
        rg_val i;
        switch (rnd(g, 7)) {
        case 0:
            return rg_b_real(b, RG_F32, (double)rnd(g, 5) - 1);
        case 1:
            return rg_b_scalar(b, 1);
        case 2:
            i = index_of(g, N);
            return rg_b_load(b, 1, 0, &i, 0);
        case 3:
            i = index_of(g, 4);
            return rg_b_load(b, g->small, 0, &i, 0);
        case 4:
            i = g->own ? g->own : index_of(g, N);
            return rg_b_load(b, 2 + rnd(g, 2), 0, &i, 0);
        default:
            return rg_b_load(b, g->real[rnd(g, 4)], 0, NULL, 0);
        }
    }
    static const rg_op ops[] = {RG_ADD, RG_SUB, RG_MUL, RG_FMIN};
    rg_val x = real_value(g, depth - 1);
    if (rnd(g, 8) == 0)
        return rg_b_op1(b, rnd(g, 2) ? RG_NEG : RG_FABS, x);
    return rg_b_op2(b, ops[rnd(g, 4)], x, real_value(g, depth - 1));
}

static rg_val condition(gen *g) {
    if (rnd(g, 2))
        return rg_b_op2(g->b, RG_LT, whole_value(g, 1), whole_value(g, 1));
    return rg_b_op2(g->b, RG_GT, real_value(g, 1), real_value(g, 1));
}

static void statements(gen *g, int depth, uint32_t n);
static void locals(gen *g);

static void statement(gen *g, int depth) {
    rg_build *b = g->b;
    g->size++;
    uint32_t kind = rnd(g, depth > 0 ? 14 : 10);
    rg_val i, v;
    switch (kind) {
    case 0:
    case 1:
        rg_b_store(b, g->real[rnd(g, 4)], 0, NULL, real_value(g, 2), 0);
        return;
    case 2:
        rg_b_store(b, g->whole[rnd(g, 3)], 0, NULL, whole_value(g, 2), 0);
        return;
    case 3:
        v = real_value(g, 1);
        rg_b_addto(b, g->real[rnd(g, 4)], 0, NULL, v, 0);
        return;
    case 4:
        v = real_value(g, 2);
        i = index_of(g, 4);
        if (rnd(g, 2))
            rg_b_store(b, g->small, 0, &i, v, 0);
        else
            rg_b_addto(b, g->small, 0, &i, v, 0);
        return;
    case 5:
    case 6:
        v = real_value(g, 2);
        i = g->own ? g->own : index_of(g, N);
        if (rnd(g, 2))
            rg_b_store(b, 2 + rnd(g, 2), 0, &i, v, 0);
        else
            rg_b_addto(b, 2 + rnd(g, 2), 0, &i, v, 0);
        return;
    case 7: {
        uint16_t flags = g->own || rnd(g, 2) ? RG_INS_ATOMIC : 0;
        v = whole_value(g, 1);
        i = rg_b_int(b, RG_I32, 0);
        if (rnd(g, 2)) {
            rg_b_addto(b, 6, 0, &i, v, flags);
            return;
        }
        i = index_of(g, N);
        rg_b_addto(b, 4, 0, &i, v, flags);
        if (!g->own) /* in a parallel nobody may look */
            rg_b_store(b, g->whole[0], 0, NULL, rg_b_load(b, 4, 0, &i, 0), 0);
        return;
    }
    case 8:
        if (rnd(g, 3) == 0) {
            rg_aid from = g->pair[rnd(g, 2)], to = g->pair[rnd(g, 2)];
            rg_b_copy(b, to, from, NULL, 0);
        } else if (rnd(g, 2)) {
            static const rg_red reds[] = {RG_RED_ADD, RG_RED_MIN, RG_RED_MAX, RG_RED_SET};
            v = real_value(g, 1);
            v = rg_b_rmw(b, reds[rnd(g, 4)], g->real[0], 0, NULL, v,
                         rnd(g, 2) ? RG_INS_CAPTURE_NEW : 0);
            rg_b_store(b, g->real[1], 0, NULL, v, 0);
        } else {
            rg_aid p = g->pair[rnd(g, 2)];
            rg_b_store(b, p, rnd(g, 2), NULL, real_value(g, 2), 0);
            rg_b_store(b, g->real[2], 0, NULL, rg_b_load(b, p, rnd(g, 2), NULL, 0), 0);
        }
        return;
    case 9:
        locals(g); /* new ones, known to the end of this block */
        return;
    case 10:
    case 11: {
        rg_iid branch = rg_b_if(b, condition(g));
        for (int s = 0; s < 2; s++) {
            rg_b_push(b, rg_ins_at(g->f, branch)->region[s]);
            statements(g, depth - 1, 1 + rnd(g, 3));
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
        }
        return;
    }
    case 12: {
        rg_val lo = rg_b_int(b, RG_I32, (int64_t)rnd(g, 2));
        rg_val hi = rnd(g, 2) ? rg_b_scalar(b, 0) : rg_b_int(b, RG_I32, (int64_t)rnd(g, 4));
        rg_iid loop = rg_b_for(b, lo, hi, NULL, 0, rnd(g, 3) ? 0 : RG_INS_REVERSE);
        rg_b_push(b, rg_ins_at(g->f, loop)->region[0]);
        g->iv[g->niv++] = rg_b_arg(b, 0);
        statements(g, depth - 1, 1 + rnd(g, 4));
        g->niv--;
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        return;
    }
    default: {
        /* do ... while (++count < n), or with a condition on data besides */
        rg_aid count = rg_b_alloc(b, "count", rg_elem_scalar(RG_M_I32), 0, NULL, 0);
        rg_b_store(b, count, 0, NULL, rg_b_int(b, RG_I32, 0), 0);
        rg_iid loop = rg_b_loop(b, NULL, 0);
        rg_b_push(b, rg_ins_at(g->f, loop)->region[0]);
        statements(g, depth - 1, 1 + rnd(g, 3));
        v = rg_b_op2(b, RG_ADD, rg_b_load(b, count, 0, NULL, 0), rg_b_int(b, RG_I32, 1));
        rg_b_store(b, count, 0, NULL, v, 0);
        v = rg_b_op2(b, RG_LT, v, rg_b_int(b, RG_I32, 3));
        if (rnd(g, 2))
            v = rg_b_op2(b, RG_AND, v, condition(g));
        rg_b_yield(b, &v, 1);
        rg_b_pop(b);
        return;
    }
    }
}

static void statements(gen *g, int depth, uint32_t n) {
    gen before = *g;
    for (uint32_t k = 0; k < n && g->size < 60; k++)
        statement(g, depth);
    if (depth < 3) { /* a block's locals end with it */
        before.seed = g->seed;
        before.size = g->size;
        *g = before;
    }
}

/* struct { float u; _Float16 h; } */
static const rg_elem *pair_type(void) {
    rg_elem *e = RG_NEW(arena, rg_elem);
    e->is_struct = true;
    e->name = "pair";
    e->nfields = 2;
    e->fields = RG_NEW_N(arena, rg_field, 2);
    e->fields[0] = (rg_field){.name = "u", .type = rg_elem_scalar(RG_M_F32)};
    e->fields[1] = (rg_field){.name = "h", .type = rg_elem_scalar(RG_M_F16)};
    rg_elem_finish(arena, e);
    return e;
}

static void locals(gen *g) {
    rg_build *b = g->b;
    static const char *const names[] = {"a", "b", "c", "d"};
    const rg_elem *pair = g->pair_type;
    for (uint32_t k = 0; k < 4; k++) {
        g->real[k] = rg_b_alloc(b, names[k], rg_elem_scalar(RG_M_F32), 0, NULL, RG_ARR_ZERO);
        if (k < 3)
            g->whole[k] =
                rg_b_alloc(b, "i", rg_elem_scalar(k ? RG_M_I32 : RG_M_I8), 0, NULL, RG_ARR_ZERO);
    }
    for (uint32_t k = 0; k < 2; k++)
        g->pair[k] = rg_b_alloc(b, "p", pair, 0, NULL, RG_ARR_ZERO);
    rg_val four = rg_b_int(b, RG_I64, 4);
    g->small = rg_b_alloc(b, "s", rg_elem_scalar(RG_M_F32), 1, &four, RG_ARR_ZERO);
}

static rg_fn *random_fn(uint64_t seed) {
    rg_fn *f = frame("", "");
    rg_region_at(f, f->body)->ins.n--; /* its yield */
    gen g = {.f = f, .seed = seed * 977 + 5, .pair_type = pair_type()};
    rg_build *b = g.b = rg_b_new(f);
    locals(&g);
    statements(&g, 3, 3);
    if (rnd(&g, 2)) {
        rg_val bounds[2] = {rg_b_int(b, RG_I32, 0), rg_b_scalar(b, 0)};
        rg_iid p = rg_b_parallel(b, bounds, 1, NULL, NULL, 0);
        rg_b_push(b, rg_ins_at(f, p)->region[0]);
        gen outside = g;
        g.iv[g.niv++] = g.own = rg_b_arg(b, 0);
        locals(&g);
        statements(&g, 3, 5);
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        outside.seed = g.seed;
        outside.size = g.size;
        g = outside;
    }
    statements(&g, 3, 6);
    for (uint32_t k = 0; k < 4; k++) {
        rg_val i = rg_b_int(b, RG_I32, (int64_t)k);
        rg_b_store(b, 3, 0, &i, rg_b_load(b, g.real[k], 0, NULL, 0), 0);
    }
    rg_b_yield(b, NULL, 0);
    assert_valid(f, "generation");
    return f;
}

static void test_random(void **state) {
    (void)state;
    const char *many = getenv("RETROGRAD_TEST_RANDOM");
    uint64_t n = many ? strtoull(many, NULL, 10) : 150;
    const char *from = getenv("RETROGRAD_TEST_RANDOM_FROM");
    rg_arena *outer = arena;
    for (uint64_t s = from ? strtoull(from, NULL, 10) : 0; n--; s++) {
        arena = rg_arena_new(NULL);
        rg_fn *f = random_fn(s);
        if (from)
            printf("seed %llu\n", (unsigned long long)s);
        watch w = {rg_fn_clone(arena, f)};
        rg_opt_options o = {.after = after, .user = &w, .no_unroll = s % 3 == 0};
        rg_opt_run(f, &o);
        rg_arena_free(arena);
    }
    arena = outer;
}

/* --- memory ---------------------------------------------------------------------------------- */

static long left; /* allocations before the failure */

static void *failing_resize(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (!size) {
        free(old);
        return NULL;
    }
    return left-- > 0 ? realloc(old, size) : NULL;
}

static void test_out_of_memory(void **state) {
    (void)state;
    const rg_fn *f = random_fn(7);
    const rg_allocator allocator = {.resize = failing_resize};
    static volatile int failures, successes;
    failures = successes = 0;
    for (volatile long limit = 0; limit < 2000 && !successes; limit++) {
        left = 1000;
        rg_arena *a = rg_arena_new(&allocator);
        assert_non_null(a);
        if (RG_GUARD(a)) {
            failures++; /* and the passes' own arenas are gone: the leak checker says so */
        } else {
            rg_fn *copy = rg_fn_clone(a, f);
            left = limit;
            rg_opt_run(copy, NULL);
            successes++;
        }
        rg_arena_free(a);
    }
    assert_int_equal(successes, 1);
    assert_true(failures > 0);
}

/* --- speed
 * -------------------------------------------------------------------------------------------- */

static void test_long_straight_code(void **state) {
    (void)state;
    enum { STATEMENTS = 20000, VARIABLES = 4000 };
    rg_fn *f = frame("", "");
    rg_region_at(f, f->body)->ins.n--;
    rg_build *b = rg_b_new(f);
    static rg_aid v[VARIABLES];
    for (uint32_t k = 0; k < VARIABLES; k++) {
        v[k] = rg_b_alloc(b, "v", rg_elem_scalar(RG_M_F32), 0, NULL, 0);
        rg_b_store(b, v[k], 0, NULL, rg_b_scalar(b, 1), 0);
    }
    rg_iid branch = 0;
    for (uint32_t k = 0; k < STATEMENTS; k++) {
        if (k % 2000 == 1000) {
            branch = rg_b_if(b, rg_b_op2(b, RG_LT, rg_b_scalar(b, 0), rg_b_int(b, RG_I32, k)));
            rg_b_push(b, rg_ins_at(f, branch)->region[0]);
        }
        uint32_t p = (k * 7919u) % VARIABLES, q = (k * 104729u) % VARIABLES;
        rg_val x = rg_b_op2(b, k % 2 ? RG_ADD : RG_MUL, rg_b_load(b, v[p], 0, NULL, 0),
                            rg_b_load(b, v[q], 0, NULL, 0));
        rg_b_store(b, v[k % VARIABLES], 0, NULL, x, 0);
        if (k % 2000 == 1999) {
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
            rg_b_push(b, rg_ins_at(f, branch)->region[1]);
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
        }
    }
    rg_val zero = rg_b_int(b, RG_I32, 0);
    for (uint32_t k = 0; k < VARIABLES; k++)
        rg_b_addto(b, 2, 0, &zero, rg_b_load(b, v[k], 0, NULL, 0), 0);
    rg_b_yield(b, NULL, 0);
    clock_t start = clock();
    rg_opt_run(f, NULL);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (getenv("RETROGRAD_TEST_TIMES"))
        printf("%d statements: %.0f ms\n", STATEMENTS, seconds * 1e3);
    assert_valid(f, "run");
    assert_int_equal(count(f, RG_ALLOC), 0);
    assert_true(seconds < 10.0); /* quadratic work would take minutes */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scalar_locals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loop_element, setup, teardown),
        cmocka_unit_test_setup_teardown(test_conditional_store_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_written_before, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loop_sum, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_gradients_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_array, setup, teardown),
        cmocka_unit_test_setup_teardown(test_atomic_to_reduction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_forwarding, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addto, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dce, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fold_structure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cse, setup, teardown),
        cmocka_unit_test_setup_teardown(test_licm, setup, teardown),
        cmocka_unit_test_setup_teardown(test_indvar, setup, teardown),
        cmocka_unit_test_setup_teardown(test_while_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random, setup, teardown),
        cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_straight_code, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
