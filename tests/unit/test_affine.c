/* Affine forms, and what they prove about accesses: which may meet, and which arrays are written
 * once. Kernels are given as IR text; accesses are named by their order in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/affine.h"
#include "ir/build.h"
#include "ir/linear.h"
#include "ir/poly.h"
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

/* Scalars n m (i32), arrays u (f32[n]), v (f32[n][n]), s (struct), idx (i32). */
static const char head[] = "struct pair { f32 a; f32 b[2]; }\n"
                           "kernel k primal\n"
                           "  param 0 n: i32\n"
                           "  param 1 m: i32\n"
                           "  param 2 u: f32[?] @1.u\n"
                           "  param 3 v: f32[?][?] @2.v\n"
                           "  param 4 s: struct pair[?] @3.s\n"
                           "  param 5 idx: const i32[?] @4.idx\n"
                           "  scalar $0: i32 of 0 at 0\n"
                           "  scalar $1: i32 of 1 at 0\n"
                           "  array @1.u: param 2 f32[?]\n"
                           "  array @2.v: param 3 f32[?, ?]\n"
                           "  array @3.s: param 4 struct pair[?]\n"
                           "  array @4.idx: param 5 const i32[?]\n"
                           "  array @5.t: local f32[*]\n"
                           "{\n"
                           "  %1: i32 = scalar $0\n"
                           "  %2: i32 = scalar $1\n"
                           "  %3: i32 = const 0\n"
                           "  %4: i32 = const 1\n"
                           "  %5: f32 = const 2.0\n"
                           "  %6: i32 = sub %1, %4\n";

static const rg_fn *read_kernel(const char *body) {
    rg_sources *sources = rg_sources_new(arena);
    rg_diags d = {.arena = arena, .sources = sources};
    const char *text = rg_format(arena, "%s%s  yield\n}\n", head, body);
    rg_ir_module *m = rg_ir_read(arena, &d, "test", text, strlen(text));
    rg_text out = {.arena = arena};
    if (!m) {
        rg_diags_render(&d, &out);
        fail_msg("%s", rg_text_str(&out));
    }
    if (!rg_ir_verify(m->kernels.at[0], &out))
        fail_msg("%s", rg_text_str(&out));
    return m->kernels.at[0];
}

/* The k-th access of array a (load, store, addto, rmw) in the text. */
static rg_iid find(const rg_fn *f, rg_rid r, rg_aid a, int *k) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t j = 0; j < g->ins.n; j++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[j]);
        if ((ins->op == RG_LOAD || ins->op == RG_STORE || ins->op == RG_ADDTO ||
             ins->op == RG_RMW) &&
            ins->array == a && (*k)-- == 0)
            return g->ins.at[j];
        for (int q = 0; q < 2; q++) {
            rg_iid found = ins->region[q] ? find(f, ins->region[q], a, k) : 0;
            if (found)
                return found;
        }
    }
    return 0;
}
static rg_iid access_at(const rg_fn *f, rg_aid a, int k) {
    rg_iid i = find(f, f->body, a, &k);
    assert_int_not_equal(i, 0);
    return i;
}
static rg_iid parallel_of(const rg_fn *f, rg_iid i) {
    while (i && rg_ins_at(f, i)->op != RG_PARALLEL)
        i = rg_region_at(f, rg_ins_at(f, i)->parent)->owner;
    assert_int_not_equal(i, 0);
    return i;
}
static bool once(const char *body, rg_aid a) {
    rg_iid conflict[2];
    bool r = rg_array_once(read_kernel(body), a, conflict);
    assert_true(r == (conflict[0] == 0));
    return r;
}
/* First two accesses of u in one parallel: same iteration only? */
static bool same_iteration(const char *body) {
    const rg_fn *f = read_kernel(body);
    rg_iid a = access_at(f, 1, 0), b = access_at(f, 1, 1);
    bool r = rg_access_same_iteration(f, a, b, parallel_of(f, a));
    assert_true(r == rg_access_same_iteration(f, b, a, parallel_of(f, a)));
    return r;
}

static void test_linear(void **state) {
    (void)state;
    rg_linear s = {.nvars = 2};
    /* 2x - 2y = 1 */
    rg_linear_add(&s, &(rg_linear_row){.constant = -1, .coef = {2, -2}, .equal = true});
    assert_true(rg_linear_infeasible(&s));
    s = (rg_linear){.nvars = 3};
    /* x < y, y < z, z < x */
    rg_linear_add(&s, &(rg_linear_row){.constant = -1, .coef = {-1, 1, 0}});
    rg_linear_add(&s, &(rg_linear_row){.constant = -1, .coef = {0, -1, 1}});
    rg_linear t = s;
    assert_false(rg_linear_infeasible(&t));
    rg_linear_add(&s, &(rg_linear_row){.constant = -1, .coef = {1, 0, -1}});
    assert_true(rg_linear_infeasible(&s));
    /* 3 <= 2x <= 3 has no integer */
    s = (rg_linear){.nvars = 1};
    rg_linear_add(&s, &(rg_linear_row){.constant = -3, .coef = {2}});
    rg_linear_add(&s, &(rg_linear_row){.constant = 3, .coef = {-2}});
    assert_true(rg_linear_infeasible(&s));
    /* huge coefficients: no answer, but no overflow either */
    s = (rg_linear){.nvars = 2};
    rg_linear_add(&s, &(rg_linear_row){.constant = -1, .coef = {INT64_MAX, -3}});
    rg_linear_add(&s, &(rg_linear_row){.constant = -1, .coef = {-INT64_MAX + 1, 5}});
    rg_linear_infeasible(&s);
}

static void test_affine_forms(void **state) {
    (void)state;
    const rg_fn *f = read_kernel("  for %10: i32 = %3 to %1 {\n"
                                 "    %12: i32 = const 3\n"
                                 "    %13: i32 = mul %10, %12\n"
                                 "    %14: i32 = sub %13, %4\n"
                                 "    %15: i64 = cast %14\n"
                                 "    %16: i32 = shl %10, %4\n"
                                 "    %17: i32 = add %16, %10\n"
                                 "    %18: i64 = cast %17\n"
                                 "    %19: u32 = cast %6\n"
                                 "    %20: i32 = mul %10, %1\n"
                                 "    yield\n"
                                 "  }\n");
    rg_affine a = rg_affine_of(f, 15), b = rg_affine_of(f, 18);
    int64_t d;
    assert_true(a.ok && b.ok);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.term[0], 10);
    assert_int_equal(a.coef[0], 3);
    assert_int_equal(a.constant, -1);
    assert_true(rg_affine_difference(&a, &b, &d));
    assert_int_equal(d, 1);
    a = rg_affine_of(f, 19); /* n - 1 may be negative: its cast is a term */
    assert_true(a.n == 1 && a.term[0] == 19);
    a = rg_affine_of(f, 20);
    assert_true(a.n == 1 && a.term[0] == 20);
    rg_poly p = rg_poly_of(f, 20, true);
    assert_true(p.ok && p.n == 1 && p.at[0].n == 2);
}

static void test_unsigned_forms(void **state) {
    (void)state;
    const rg_fn *f = read_kernel("  %8: u32 = cast %1\n"
                                 "  %9: u32 = const 1\n"
                                 "  for %10: u32 = %9 to %8 {\n"
                                 "    %12: u32 = const 2\n"
                                 "    %13: u32 = sub %10, %9\n"
                                 "    %14: u32 = sub %10, %12\n"
                                 "    %15: u32 = add %10, %9\n"
                                 "    %16: u32 = add %10, %12\n"
                                 "    yield\n"
                                 "  }\n");
    assert_int_equal(rg_affine_of(f, 13).term[0], 10); /* i >= 1 */
    assert_int_equal(rg_affine_of(f, 14).term[0], 14); /* i - 2 may wrap */
    assert_int_equal(rg_affine_of(f, 15).term[0], 10); /* i < 2^32 - 1 */
    assert_int_equal(rg_affine_of(f, 16).term[0], 16);
}

static void test_same_iteration(void **state) {
    (void)state;
    const char *load_store = "  parallel %10: i32 = %3 to %1 {\n"
                             "    %12: f32 = load @1.u[%10]\n"
                             "    store @1.u[%10] = %12\n"
                             "    yield\n  }\n";
    assert_true(same_iteration(load_store));
    assert_false(same_iteration("  parallel %10: i32 = %3 to %1 {\n"
                                "    %11: i32 = add %10, %4\n"
                                "    %12: f32 = load @1.u[%11]\n"
                                "    store @1.u[%10] = %12\n"
                                "    yield\n  }\n"));
    /* 2i and 2i + 1 */
    assert_true(same_iteration("  parallel %10: i32 = %3 to %1 {\n"
                               "    %11: i32 = shl %10, %4\n"
                               "    %12: f32 = load @1.u[%11]\n"
                               "    %13: i32 = add %11, %4\n"
                               "    store @1.u[%13] = %12\n"
                               "    yield\n  }\n"));
    /* row i of a flat matrix, any columns in [0, n) */
    const char *rows = "  parallel %10: i32 = %3 to %2 {\n"
                       "    %11: i32 = mul %10, %1\n"
                       "    for %20: i32 = %3 to %1 {\n"
                       "      %21: i32 = add %11, %20\n"
                       "      %22: f32 = load @1.u[%21]\n"
                       "      yield\n    }\n"
                       "    for %30: i32 = %3 to %{hi} {\n"
                       "      %31: i32 = add %11, %30\n"
                       "      store @1.u[%31] = %5\n"
                       "      yield\n    }\n"
                       "    yield\n  }\n";
    for (int k = 0; k < 2; k++) {
        char text[1024];
        const char *mark = strstr(rows, "{hi}");
        snprintf(text, sizeof text, "%.*s%c%s", (int)(mark - rows), rows, k ? '2' : '1', mark + 4);
        assert_true(same_iteration(text) == (k == 0));
    }
    /* data-dependent */
    assert_false(same_iteration("  parallel %10: i32 = %3 to %1 {\n"
                                "    %11: i32 = load @4.idx[%10]\n"
                                "    addto @1.u[%11] += %5\n"
                                "    addto @1.u[%11] += %5\n"
                                "    yield\n  }\n"));
    /* under a guard that pins the iteration */
    assert_true(same_iteration("  parallel %10: i32 = %3 to %1 {\n"
                               "    %11: bool = eq %10, %4\n"
                               "    if %11 {\n"
                               "      addto @1.u[%3] += %5\n"
                               "      addto @1.u[%3] += %5\n"
                               "      yield\n    } else {\n"
                               "      yield\n    }\n"
                               "    yield\n  }\n"));
}

static void test_uniform_and_injective(void **state) {
    (void)state;
    const rg_fn *f = read_kernel("  parallel %10: i32 = %3 to %1, %11: i32 = %3 to %2 {\n"
                                 "    %12: i32 = add %6, %4\n"
                                 "    addto @1.u[%12] += %5\n"
                                 "    addto @1.u[%10] += %5\n"
                                 "    addto @2.v[%10, %11] += %5\n"
                                 "    for %20: i32 = %3 to %2 {\n"
                                 "      store @2.v[%10, %20] = %5\n"
                                 "      yield\n    }\n"
                                 "    yield\n  }\n");
    rg_iid u0 = access_at(f, 1, 0), u1 = access_at(f, 1, 1), v = access_at(f, 2, 0),
           w = access_at(f, 2, 1), p = parallel_of(f, v);
    assert_true(rg_access_uniform(f, u0, p));
    assert_false(rg_access_uniform(f, u1, p));
    assert_false(rg_access_injective(f, u1, f->body)); /* j is missing */
    assert_true(rg_access_injective(f, v, f->body));
    assert_false(rg_access_injective(f, w, f->body));
    assert_true(rg_access_injective(f, w, rg_ins_at(f, p)->region[0]));
}

static void test_disjoint(void **state) {
    (void)state;
    const rg_fn *f = read_kernel("  store @3.s[%3].a = %5\n"
                                 "  store @3.s[%3].b[%3] = %5\n"
                                 "  store @3.s[%3].b[%4] = %5\n"
                                 "  store @3.s[%1].b[%4] = %5\n"
                                 "  for %10: i32 = %3 to %1 {\n"
                                 "    %11: i32 = add %10, %4\n"
                                 "    store @2.v[%11, %10] = %5\n"
                                 "    store @2.v[%3, %10] = %5\n"
                                 "    store @2.v[%10, %10] = %5\n"
                                 "    yield\n  }\n");
    rg_iid s[4], v[3];
    for (int k = 0; k < 4; k++)
        s[k] = access_at(f, 3, k);
    for (int k = 0; k < 3; k++)
        v[k] = access_at(f, 2, k);
    assert_true(rg_access_disjoint(f, s[0], s[1]));
    assert_true(rg_access_disjoint(f, s[1], s[2]));
    assert_false(rg_access_disjoint(f, s[2], s[3]));
    assert_true(rg_access_disjoint(f, v[0], v[1])); /* row t + 1 and row 0 */
    assert_false(rg_access_disjoint(f, v[1], v[2]));
    assert_true(rg_access_disjoint(f, v[0], v[2])); /* (t + 1, t) and (t', t') */
}

/* u[t+1][i] = f(u[t][i-1], u[t][i+1]), row 0 given */
#define HISTORY(init, stored_row, extra, after)                                                    \
    init "  for %10: i32 = %3 to %2 {\n"                                                           \
         "    %11: i32 = add %10, %4\n"                                                            \
         "    parallel %20: i32 = %4 to %6 {\n"                                                    \
         "      %21: i32 = sub %20, %4\n"                                                          \
         "      %22: i32 = add %20, %4\n"                                                          \
         "      %23: f32 = load @2.v[%10, %21]\n"                                                  \
         "      %24: f32 = load @2.v[%10, %22]\n"                                                  \
         "      %25: f32 = add %23, %24\n"                                                         \
         "      store @2.v[" stored_row ", %20] = %25\n" extra "      yield\n    }\n"              \
         "    yield\n  }\n" after

#define ROW_0                                                                                      \
    "  parallel %50: i32 = %3 to %1 {\n"                                                           \
    "    %51: f32 = load @1.u[%50]\n"                                                              \
    "    store @2.v[%3, %50] = %51\n"                                                              \
    "    yield\n  }\n"
#define ROW_1                                                                                      \
    "  parallel %50: i32 = %3 to %1 {\n"                                                           \
    "    store @2.v[%4, %50] = %5\n"                                                               \
    "    yield\n  }\n"
#define READ_BACK                                                                                  \
    "  parallel %60: i32 = %3 to %1 {\n"                                                           \
    "    %61: f32 = load @2.v[%2, %60]\n"                                                          \
    "    store @1.u[%60] = %61\n"                                                                  \
    "    yield\n  }\n"
#define OVERWRITE                                                                                  \
    "  parallel %70: i32 = %3 to %1 {\n"                                                           \
    "    store @2.v[%2, %70] = %5\n"                                                               \
    "    yield\n  }\n"

static void test_history(void **state) {
    (void)state;
    assert_true(once(HISTORY("", "%11", "", ""), 2));
    assert_false(once(HISTORY("", "%10", "", ""), 2)); /* in place */
    assert_true(once(HISTORY(ROW_0, "%11", "", READ_BACK), 2));
    assert_true(once(HISTORY(ROW_1, "%11", "", ""), 2)); /* overwritten before it is read */
    assert_false(once(HISTORY("", "%11", "", ROW_1), 2));
    assert_true(once(HISTORY(ROW_0, "%11", "", OVERWRITE), 2)); /* row m is not read in the loop */
    assert_false(once(HISTORY(ROW_0, "%11", "", READ_BACK OVERWRITE), 2));
    /* reading back what this iteration stored is fine, reading the neighbour's is a race */
    assert_true(once(HISTORY("", "%11", "      %30: f32 = load @2.v[%11, %20]\n", ""), 2));
    assert_false(once(HISTORY("", "%11", "      %30: f32 = load @2.v[%11, %21]\n", ""), 2));
}

/* x[(t + step) * n + i] from x[t * n + i +- 1], flat */
static const char *flat(const char *from, const char *hi) {
    return rg_format(arena,
                     "  for %%10: i32 = %%3 to %%2 {\n"
                     "    %%11: i32 = add %%10, %%4\n"
                     "    %%12: i32 = mul %%10, %%1\n"
                     "    %%13: i32 = mul %%11, %%1\n"
                     "    parallel %%20: i32 = %s to %s {\n"
                     "      %%21: i32 = sub %%20, %%4\n"
                     "      %%22: i32 = add %%12, %%21\n"
                     "      %%23: f32 = load @1.u[%%22]\n"
                     "      %%24: i32 = add %%12, %%20\n"
                     "      %%25: i32 = add %%24, %%4\n"
                     "      %%26: f32 = load @1.u[%%25]\n"
                     "      %%27: i32 = add %%13, %%20\n"
                     "      %%28: f32 = add %%23, %%26\n"
                     "      store @1.u[%%27] = %%28\n"
                     "      yield\n    }\n"
                     "    yield\n  }\n",
                     from, hi);
}

static void test_flat_history(void **state) {
    (void)state;
    assert_true(once(flat("%4", "%6"), 1));
    assert_true(once(flat("%3", "%6"), 1)); /* u[t * n - 1] is the last of a row: never stored */
    assert_false(once(flat("%3", "%1"), 1));
    assert_true(once(flat("%4", "%1"), 1)); /* u[t * n + n] begins the next row: never stored */
    /* a constant row length, rows of 64 */
    const char *rows = "  for %10: i32 = %3 to %2 {\n"
                       "    %11: i32 = const 64\n"
                       "    %12: i32 = mul %10, %11\n"
                       "    for %20: i32 = %3 to %11 {\n"
                       "      %21: i32 = add %12, %20\n"
                       "      %22: f32 = load @1.u[%21]\n"
                       "      %23: i32 = add %21, %11\n"
                       "      store @1.u[%23] = %22\n"
                       "      yield\n    }\n"
                       "    yield\n  }\n";
    assert_true(once(rows, 1));
    /* u[i] = u[i - 1]: serial recurrence; u[i] = u[i + 1]: reads the future */
    assert_true(once("  for %10: i32 = %4 to %1 {\n"
                     "    %11: i32 = sub %10, %4\n"
                     "    %12: f32 = load @1.u[%11]\n"
                     "    store @1.u[%10] = %12\n"
                     "    yield\n  }\n",
                     1));
    assert_true(once("  for reverse %10: i32 = %3 to %6 {\n"
                     "    %11: i32 = add %10, %4\n"
                     "    %12: f32 = load @1.u[%11]\n"
                     "    store @1.u[%10] = %12\n"
                     "    yield\n  }\n",
                     1));
    assert_false(once("  for %10: i32 = %3 to %6 {\n"
                      "    %11: i32 = add %10, %4\n"
                      "    %12: f32 = load @1.u[%11]\n"
                      "    store @1.u[%10] = %12\n"
                      "    yield\n  }\n",
                      1));
    /* three axes flattened: (z * m + y) * n + x, each written once */
    assert_true(once("  for %10: i32 = %3 to %2 {\n"
                     "    for %11: i32 = %3 to %2 {\n"
                     "      for %12: i32 = %3 to %1 {\n"
                     "        %13: i32 = mul %10, %2\n"
                     "        %14: i32 = add %13, %11\n"
                     "        %15: i32 = mul %14, %1\n"
                     "        %16: i32 = add %15, %12\n"
                     "        store @1.u[%16] = %5\n"
                     "        yield\n      }\n"
                     "      yield\n    }\n"
                     "    yield\n  }\n",
                     1));
}

#define SUMS                                                                                       \
    "  parallel %10: i32 = %3 to %1 {\n"                                                           \
    "    addto atomic @1.u[%3] += %5\n"                                                            \
    "    yield\n  }\n"

static void test_branches_and_sums(void **state) {
    (void)state;
    /* exclusive branches */
    assert_true(once("  for %10: i32 = %3 to %1 {\n"
                     "    %11: bool = lt %10, %2\n"
                     "    if %11 {\n"
                     "      store @1.u[%10] = %5\n"
                     "      yield\n"
                     "    } else {\n"
                     "      store @1.u[%10] = %5\n"
                     "      yield\n    }\n"
                     "    yield\n  }\n",
                     1));
    assert_true(once("  for %10: i32 = %3 to %1 {\n"
                     "    store @1.u[%10] = %5\n"
                     "    store @1.u[%10] = %5\n"
                     "    yield\n  }\n",
                     1));
    /* sums alone, and read after the last */
    assert_true(once(SUMS, 1));
    assert_true(once(SUMS "  %20: f32 = load @1.u[%3]\n", 1));
    assert_true(once(SUMS "  store @1.u[%3] = %5\n", 1));
    assert_false(once("  for %10: i32 = %3 to %1 {\n"
                      "    %11: f32 = load @1.u[%3]\n"
                      "    addto @1.u[%3] += %11\n"
                      "    yield\n  }\n",
                      1));
    /* an atomic capture reads what others overwrite */
    assert_false(once("  parallel %10: i32 = %3 to %1 {\n"
                      "    %11: f32 = rmw add @1.u[%3], %5\n"
                      "    store @2.v[%10, %3] = %11\n"
                      "    yield\n  }\n",
                      1));
    /* a while loop with a counter that steps by one */
    assert_true(once("  %9: i32 = loop carry %10: i32 = %3 {\n"
                     "    store @1.u[%10] = %5\n"
                     "    %11: i32 = add %10, %4\n"
                     "    %12: bool = lt %11, %1\n"
                     "    yield %12, %11\n  }\n",
                     1));
    /* a local's life is one run of its region */
    assert_true(once("  parallel %10: i32 = %3 to %1 {\n"
                     "    %11: i64 = const 4\n"
                     "    alloc @5.t[%11]\n"
                     "    store @5.t[%3] = %5\n"
                     "    %12: f32 = load @5.t[%3]\n"
                     "    yield\n  }\n",
                     1));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_linear),         TEST(test_affine_forms),          TEST(test_unsigned_forms),
        TEST(test_same_iteration), TEST(test_uniform_and_injective), TEST(test_disjoint),
        TEST(test_history),        TEST(test_flat_history),          TEST(test_branches_and_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
