/* The interpreter: what functions compute, every fault with its message, races, and memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static const rg_fn *read_fn(const char *text) {
    rg_diags d = {.arena = arena};
    rg_text out = {.arena = arena};
    rg_module *m = rg_ir_read(arena, &d, "t.ir", text, strlen(text));
    rg_diags_render(&d, &out);
    if (!m || !rg_ir_verify(m->kernels.at[0], &out))
        fail_msg("%s", rg_text_str(&out));
    return m->kernels.at[0];
}

/* Arguments of the kernel under test: arrays @1.. in order, scalars of the parameters in order. */
static rg_interp_array arrays[8];
static const void *scalars[8];
static bool races;

/* "" or the fault. */
static const char *run(const char *text) {
    const rg_fn *f = read_fn(text);
    rg_text out = {.arena = arena};
    rg_loc loc = 0;
    rg_interp_args args = {
        .arrays = arrays, .scalars = scalars, .max_steps = 100000, .races = races};
    bool ok = rg_interp(f, &args, &out, &loc);
    assert_int_equal(ok, out.n == 0);
    return rg_text_str(&out);
}

/* f(const x[n], y[n], int a): the frame that most tests put a body into. */
static const char *frame(const char *mem, const char *locals, const char *body) {
    return rg_format(arena,
                     "kernel k primal  ; k.c:1:1\n"
                     " param 0 x: %s[?] @1\n"
                     " param 1 y: %s[?] @2\n"
                     " param 2 a: i32\n"
                     " scalar $0: i32 of 2 at 0\n"
                     " array @1.x: param 0 %s[?]\n"
                     " array @2.y: param 1 written %s[?]\n"
                     "%s"
                     "{\n"
                     " %%1.a: i32 = scalar $0\n"
                     " %%2: i32 = const 0\n"
                     " %%3: i32 = const 1\n"
                     " %%4.n: i64 = extent @1.x, 0\n"
                     " %%5: i64 = const 0\n"
                     "%s"
                     " yield\n"
                     "}\n",
                     mem, mem, mem, mem, locals, body);
}

static int32_t scalar_a;
static void bind(void *x, void *y, const int64_t *n, int32_t a) {
    scalar_a = a;
    arrays[1] = (rg_interp_array){x, n};
    arrays[2] = (rg_interp_array){y, n};
    scalars[2] = &scalar_a;
    races = false;
}

static void test_loop_and_arrays(void **state) {
    (void)state;
    float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40};
    int64_t n = 4;
    bind(x, y, &n, 3);
    const char *text = frame("f32", "",
                             " %10: f32 = cast %1\n"
                             " parallel %11.i: i64 = %5 to %4 {\n"
                             "  %12: f32 = load @1.x[%11]\n"
                             "  %13: f32 = mul %10, %12\n"
                             "  addto @2.y[%11] += %13\n"
                             "  yield\n"
                             " }\n");
    assert_string_equal(run(text), "");
    for (int k = 0; k < 4; k++)
        assert_true(y[k] == (float)(10 * (k + 1) + 3 * (k + 1)));
    races = true;
    assert_string_equal(run(text), "");
}

/* Carried values that are handed on to one another, downwards loops, branches with results. */
static void test_carried(void **state) {
    (void)state;
    int32_t x[3] = {0}, y[3] = {0};
    int64_t n = 3;
    bind(x, y, &n, 10);
    assert_string_equal(
        run(frame("i32", "",
                  " %20: i32, %21: i32 = for %22.i: i32 = %2 to %1 carry %23: i32 "
                  "= %2, %24: i32 = %3 {\n"
                  "  %25: i32 = add %23, %24\n"
                  "  yield %24, %25\n" /* Fibonacci */
                  " }\n"
                  " store @2.y[%2] = %20\n"
                  " %30: i32 = for reverse %31: i32 = %2 to %1 carry %32: i32 = %2 {\n"
                  "  %33: bool = gt %31, %3\n"
                  "  %34: i32 = if %33 {\n"
                  "   %35: i32 = const 3\n"
                  "   %36: i32 = mul %32, %35\n"
                  "   %37: i32 = add %36, %31\n"
                  "   yield %37\n"
                  "  } else {\n"
                  "   yield %32\n"
                  "  }\n"
                  "  yield %34\n"
                  " }\n"
                  " store @2.y[%3] = %30\n"
                  " %40: i32, %41: i32 = loop carry %42: i32 = %1, %43: i32 = %2 {\n"
                  "  %44: i32 = sub %42, %3\n"
                  "  %45: i32 = add %43, %42\n"
                  "  %46: bool = gt %44, %2\n"
                  "  yield %46, %44, %45\n"
                  " }\n"
                  " %47: i32 = const 2\n"
                  " store @2.y[%47] = %41\n")),
        "");
    assert_int_equal(y[0], 55);
    int32_t want = 0;
    for (int k = 9; k > 1; k--)
        want = want * 3 + k;
    assert_int_equal(y[1], want);
    assert_int_equal(y[2], 55);
}

static void test_reductions(void **state) {
    (void)state;
    int32_t x[3] = {0}, y[3] = {0};
    int64_t n = 3;
    bind(x, y, &n, 4);
    races = true;
    assert_string_equal(
        run(frame(
            "i32", "",
            " %20: i32, %21: i32 = parallel %22: i32 = %2 to %1, %23: i32 = %3 to %1, %24: i32 "
            "= %2 to %1 reduce add %25: i32 = %3, max %26: i32 = %2 {\n"
            "  %27: i32 = const 100\n"
            "  %28: i32 = mul %22, %27\n"
            "  %29: i32 = mul %23, %24\n"
            "  %30: i32 = add %28, %29\n"
            "  %31: i32 = red add %25, %30\n"
            "  %32: i32 = red max %26, %30\n"
            "  yield %31, %32\n"
            " }\n"
            " store @2.y[%2] = %20\n"
            " store @2.y[%3] = %21\n"
            " %40: i32 = parallel %41: i32 = %1 to %2 reduce add %42: i32 = %1 {\n"
            "  yield %42\n"
            " }\n"
            " %43: i32 = const 2\n"
            " store @2.y[%43] = %40\n")),
        "");
    int32_t sum = 1, most = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 1; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                int v = 100 * i + j * k;
                sum += v;
                most = v > most ? v : most;
            }
    assert_int_equal(y[0], sum);
    assert_int_equal(y[1], most);
    assert_int_equal(y[2], 4); /* nothing to run: the initial value */
}

/* Locals: fresh each time alloc runs, zeroed or full of NaN, growing, copied. */
static void test_locals(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 4}, y[4] = {0};
    int64_t n = 4;
    bind(x, y, &n, 3);
    assert_string_equal(run(frame("f64",
                                  " array @3.z: local zero f64[*]\n"
                                  " array @4.u: local f64[]\n"
                                  " array @5.g: local grow f64[*]\n"
                                  " array @6.m: local f64[*, *]\n"
                                  " array @7.r: local f64[*]\n",
                                  " %6: i32 = const 2\n"
                                  " for %10: i32 = %2 to %1 {\n"
                                  "  alloc @3.z[%4]\n"
                                  "  %11: f64 = load @1.x[%10]\n"
                                  "  addto @3.z[%10] += %11\n"
                                  "  %12: f64 = load @3.z[%10]\n" /* always 0 + x[i] */
                                  "  addto @2.y[%2] += %12\n"
                                  "  yield\n"
                                  " }\n"
                                  " alloc @4.u[]\n"
                                  " %20: f64 = load @4.u[]\n"
                                  " store @2.y[%3] = %20\n"
                                  " alloc @5.g[]\n"
                                  " store @5.g[%6] = %20\n"
                                  " %21: f64 = cast %1\n"
                                  " store @5.g[%2] = %21\n"
                                  " %22: i64 = extent @5.g, 0\n"
                                  " %23: f64 = cast %22\n"
                                  " store @2.y[%6] = %23\n"
                                  " alloc @6.m[%4, %4]\n"
                                  " copy @6.m[%6] = @1.x[]\n"
                                  " alloc @7.r[%4]\n"
                                  " copy @7.r[] = @6.m[%6]\n"
                                  " %24: f64 = load @7.r[%1]\n"
                                  " store @2.y[%1] = %24\n")),
                        "");
    assert_true(y[0] == 6);
    assert_true(isnan(y[1]));
    assert_true(y[2] == 3);
    assert_true(y[3] == 4);
}

static void test_small_types(void **state) {
    (void)state;
    uint16_t hx[2] = {0x3c00, 0}, hy[2] = {0x3c00, 0}; /* 1.0 */
    int64_t n = 2;
    bind(hx, hy, &n, 0);
    assert_string_equal(run(frame("f16", "",
                                  " %10: f32 = const 0.0001\n"
                                  " addto @2.y[%2] += %10\n" /* too small for a half: stays 1 */
                                  " %11: f32 = load @1.x[%2]\n"
                                  " %12: f32 = const 2.0\n"
                                  " %13: f32 = add %11, %12\n"
                                  " store @2.y[%3] = %13\n")),
                        "");
    assert_int_equal(hy[0], 0x3c00);
    assert_int_equal(hy[1], 0x4200);

    uint8_t bx[2] = {200, 7}, by[2] = {0, 0};
    bind(bx, by, &n, 100);
    assert_string_equal(run(frame("u8", "",
                                  " %10: i32 = rmw add @1.x[%2], %1\n" /* old 200, memory 44 */
                                  " %11: i32 = sub %10, %1\n"
                                  " store @2.y[%2] = %11\n"
                                  " %12: i32 = rmw new add @1.x[%3], %1\n"
                                  " store @2.y[%3] = %12\n"
                                  " %13: i32 = rmw set @1.x[%3], %3\n")),
                        "");
    assert_int_equal(bx[0], 44);
    assert_int_equal(by[0], 100);
    assert_int_equal(by[1], 107);
    assert_int_equal(bx[1], 1);
}

static void test_structs(void **state) {
    (void)state;
    struct body {
        double m[2][3];
        signed char tag;
    } b[2] = {{{{0}}, 0}, {{{1, 2, 3}, {4, 5, 6}}, -7}};
    int64_t n = 2;
    int32_t a = 1;
    arrays[1] = (rg_interp_array){b, &n};
    scalars[1] = &a;
    races = false;
    const char *text = "struct body { f64 m[2][3]; i8 tag; }\n"
                       "kernel k primal\n"
                       " param 0 b: struct body[?] @1\n param 1 a: i32\n"
                       " scalar $0: i32 of 1 at 0\n"
                       " array @1.b: param 0 struct body[?]\n"
                       "{\n"
                       " %%1: i32 = scalar $0\n %%2: i32 = const 0\n %%3: i32 = const %d\n"
                       " %%4: f64 = load @1.b[%%1].m[%%1][%%3]\n"
                       " store @1.b[%%2].m[%%2][%%1] = %%4\n"
                       " %%5: i32 = load @1.b[%%1].tag\n store @1.b[%%2].tag = %%5\n"
                       " yield\n}\n";
    assert_string_equal(run(rg_format(arena, text, 2)), "");
    assert_true(b[0].m[0][1] == 6);
    assert_int_equal(b[0].tag, -7);
    assert_string_equal(run(rg_format(arena, text, 3)),
                        "k: index 3 of b.m[%][%] is outside 0..2 (axis 2)");
}

static void test_faults(void **state) {
    (void)state;
    static const struct {
        int32_t a;
        const char *body, *error;
    } bad[] = {
        {12, " %10: i32 = load @1.x[%1]  ; k.c:7:3\n",
         "k:7: index 12 of x is outside 0..3 (axis 0)"},
        {-1, " store @2.y[%1] = %1  ; k.c:8:3\n", "k:8: index -1 of y is outside 0..3 (axis 0)"},
        {-1, " %10: u64 = cast %1\n addto @2.y[%10] += %1\n",
         "k: index 18446744073709551615 of y is outside 0..3 (axis 0)"},
        {0, " %10: i32 = div %3, %1  ; k.c:2:2\n", "k:2: division of 1 by zero"},
        {0, " %10: i32 = rem %3, %1\n", "k: division of 1 by zero"},
        {-1, " %10: i32 = const -2147483648\n %11: i32 = div %10, %1\n",
         "k: division of -2147483648 by -1 overflows"},
        {32, " %10: i32 = shl %3, %1\n", "k: shift of 1 by 32 is outside 0..31"},
        {-1, " %10: i64 = cast %3\n %11: i64 = shr %10, %1\n",
         "k: shift of 1 by -1 is outside 0..63"},
        {-3, " %10: i64 = cast %1\n alloc @3.t[%10]  ; k.c:5:9\n",
         "k:5: extent -3 of local array t"},
        {1, " %10: i64 = const 4611686018427387904\n alloc @3.t[%10]\n",
         "k: local array t is too large"},
        {1, " %10: i64 = const 2305843009213693951\n alloc @3.t[%10]\n",
         "k: out of memory: local array t of 9223372036854775804 bytes"},
        {0, " loop {\n  %10: bool = const true\n  yield %10\n }\n",
         "k: stopped after 100000 instructions"},
        {2, " alloc @4.g[]\n store @4.g[%3] = %1\n %10: i32 = load @4.g[%1]\n",
         "k: index 2 of g is outside 0..1 (axis 0)"},
        {2, " alloc @4.g[]\n addto @4.g[%2] += %1\n", "k: index 0 of g, which is empty (axis 0)"},
        {-2, " alloc @4.g[]\n store @4.g[%1] = %1\n", "k: index -2 of g, which is empty (axis 0)"},
        {0, " %10: i64 = const 9223372036854775807\n alloc @4.g[]\n store @4.g[%10] = %1\n",
         "k: index 9223372036854775807 of g, which is empty (axis 0)"},
        {0, " %10: i64 = const 4611686018427387904\n alloc @4.g[]\n store @4.g[%10] = %1\n",
         "k: out of memory: local array g grows to 4611686018427387905 elements"},
        {2, " %10: i64 = cast %1\n alloc @3.t[%10]\n copy @3.t[] = @1.x[]\n",
         "k: copy of x into t: extents 4 and 2 differ (axis 0)"},
    };
    int32_t x[4] = {0}, y[4] = {0};
    int64_t n = 4;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        bind(x, y, &n, bad[k].a);
        const char *got = run(frame(
            "i32", " array @3.t: local i32[*]\n array @4.g: local grow i32[*]\n", bad[k].body));
        if (strcmp(got, bad[k].error) != 0)
            fail_msg("case %zu: %s", k, got);
    }
    const char *touch = " %10: i32 = load @1.x[%2]\n";
    n = 0;
    bind(NULL, NULL, &n, 0);
    assert_string_equal(run(frame("i32", "", touch)), "k: index 0 of x, which is empty (axis 0)");
    assert_string_equal(run(frame("i32", "", "")), "");
    n = 2;
    assert_string_equal(run(frame("i32", "", touch)), "k: array x has no data");
    n = -2;
    assert_string_equal(run(frame("i32", "", touch)), "k: extent -2 of array x (axis 0)");
    n = INT64_MAX;
    assert_string_equal(run(frame("i32", "", touch)), "k: array x is too large");
    bind(x, y, NULL, 0);
    assert_string_equal(run(frame("i32", "", "")), "k: array x was not given");
    n = 4;
    bind(x, y, &n, 0);
    scalars[2] = NULL;
    assert_string_equal(run(frame("i32", "", "")), "k: parameter a has no value");
}

static void test_races(void **state) {
    (void)state;
    static const struct {
        const char *body, *error;
    } cases[] = {
        {"store @2.y[%2] = %20\n",
         "k: race on y[0]: iteration 0 wrote it and iteration 1 writes it"},
        {"store @2.y[%20] = %20\n", ""},
        {"addto @2.y[%2] += %20\n",
         "k: race on y[0]: iteration 0 wrote it and iteration 1 writes it"},
        {"addto atomic @2.y[%2] += %20\n", ""},
        {"addto accum @2.y[%2] += %20\n", ""},
        {"%21: i32 = rmw add @2.y[%2], %20\n  store atomic @2.y[%2] = %21\n", ""},
        {"%21: i32 = load @2.y[%2]\n  addto atomic @2.y[%2] += %20\n",
         "k: race on y[0]: iteration 0 atomically wrote it and iteration 1 reads it"},
        {"%21: i32 = load atomic @2.y[%2]\n  addto atomic @2.y[%2] += %20\n", ""},
        {"%21: i32 = sub %1, %20\n  %22: i32 = load @2.y[%21]\n  store @2.y[%20] = %22\n",
         "k: race on y[1]: iteration 1 wrote it and iteration 2 reads it"},
        {"alloc @3.t[%4]\n  store @3.t[%2] = %20\n  copy @3.t[] = @1.x[]\n", ""},
        {"store @4.s[%2] = %20\n",
         "k: race on s[0]: iteration 0 wrote it and iteration 1 writes it"},
        {"copy @2.y[] = @1.x[]\n",
         "k: race on y[0]: iteration 0 wrote it and iteration 1 writes it"},
        {"%21: i32 = load @1.x[%2]\n", ""},
    };
    int32_t x[4] = {0}, y[4] = {0};
    int64_t n = 4;
    const char *locals = " array @3.t: local i32[*]\n array @4.s: local i32[*]\n";
    const char *wrap = " alloc @4.s[%%4]\n"
                       " parallel %%20.i: i32 = %%2 to %%1 {\n  %s  yield\n }\n"
                       " parallel %%30.i: i32 = %%2 to %%1 {\n"
                       "  store @2.y[%%30] = %%30\n  yield\n }\n";
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bind(x, y, &n, 3);
        races = true;
        const char *text = frame("i32", locals, rg_format(arena, wrap, cases[k].body));
        const char *got = run(text);
        if (strcmp(got, cases[k].error) != 0)
            fail_msg("case %zu: %s", k, got);
        races = false;
        assert_string_equal(run(text), "");
    }
    /* Two ranges; and two parameters bound to the same memory. */
    bind(x, y, &n, 2);
    races = true;
    assert_string_equal(
        run(frame("i32", "",
                  " parallel %20: i32 = %3 to %1, %21: i32 = %3 to %1 {\n"
                  "  yield\n }\n"
                  " parallel %22: i32 = %2 to %1, %23: i32 = %3 to %1 {\n"
                  "  store @2.y[%23] = %22\n  yield\n }\n")),
        "k: race on y[1]: iteration (0, 1) wrote it and iteration (1, 1) writes it");
    bind(x, x, &n, 3);
    races = true;
    const char *shift = " parallel %20: i32 = %2 to %1 {\n"
                        "  %21: i32 = add %20, %3\n"
                        "  %22: i32 = load @1.x[%21]\n"
                        "  store @2.y[%20] = %22\n  yield\n }\n";
    assert_string_equal(run(frame("i32", "", shift)),
                        "k: race on y[1]: iteration 0 read it and iteration 1 writes it");
    bind(x, y, &n, 3);
    races = true;
    assert_string_equal(run(frame("i32", "", shift)), "");
}

/* Many elements, so that the table of touched elements grows; several parallels use it. */
static void test_many_touched(void **state) {
    (void)state;
    static int32_t x[5000], y[5000];
    int64_t n = 5000;
    bind(x, y, &n, 0);
    races = true;
    assert_string_equal(run(frame("i32", "",
                                  " for %15: i32 = %2 to %3 {\n"
                                  "  parallel %20: i64 = %5 to %4 {\n"
                                  "   addto @2.y[%20] += %3\n   yield\n  }\n"
                                  "  parallel %21: i64 = %5 to %4 {\n"
                                  "   %22: i64 = sub %4, %21\n"
                                  "   %23: i64 = cast %3\n"
                                  "   %24: i64 = sub %22, %23\n"
                                  "   addto @2.y[%24] += %3\n   yield\n  }\n"
                                  "  yield\n }\n")),
                        "");
    for (int k = 0; k < 5000; k++)
        assert_int_equal(y[k], 2);
}

typedef struct counter {
    size_t now, most;
    unsigned calls, fail_at;
} counter;

static void *counted_resize(void *user, void *old, size_t old_size, size_t size) {
    counter *c = user;
    if (size && ++c->calls == c->fail_at)
        return NULL;
    c->now = c->now - (old ? old_size : 0) + size;
    if (c->now > c->most)
        c->most = c->now;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

static const char *const hungry =
    " for %10: i32 = %2 to %1 {\n"
    "  alloc @3.t[%4]\n  alloc @4.g[]\n"
    "  for %11: i64 = %5 to %4 {\n"
    "   store @3.t[%11] = %10\n   store @4.g[%11] = %10\n   yield\n  }\n"
    "  yield\n }\n"
    " parallel %12: i64 = %5 to %4 {\n"
    "  store @2.y[%12] = %3\n  yield\n }\n";

static bool run_counted(const rg_fn *f, counter *c) {
    rg_text out = {.arena = arena};
    rg_loc loc;
    rg_allocator al = {counted_resize, c};
    rg_interp_args args = {.arrays = arrays, .scalars = scalars, .races = true, .allocator = &al};
    bool ok = rg_interp(f, &args, &out, &loc);
    assert_int_equal(c->now, 0);
    assert_true(ok || strstr(rg_text_str(&out), "out of memory"));
    return ok;
}

/* An alloc in a loop takes the memory of one; a failing allocator is a fault and leaks nothing. */
static void test_memory(void **state) {
    (void)state;
    int32_t x[16] = {0}, y[16] = {0};
    int64_t n = 16;
    const char *locals = " array @3.t: local i32[*]\n array @4.g: local grow i32[*]\n";
    const rg_fn *f = read_fn(frame("i32", locals, hungry));
    counter once = {0}, often = {0};
    bind(x, y, &n, 1);
    assert_true(run_counted(f, &once));
    bind(x, y, &n, 5000);
    assert_true(run_counted(f, &often));
    assert_int_equal(once.most, often.most);
    unsigned at = 1;
    for (;; at++) {
        counter c = {.fail_at = at};
        bind(x, y, &n, 2);
        if (run_counted(f, &c))
            break;
    }
    assert_in_range(at, 8, 30);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_loop_and_arrays), TEST(test_carried), TEST(test_reductions), TEST(test_locals),
        TEST(test_small_types),     TEST(test_structs), TEST(test_faults),     TEST(test_races),
        TEST(test_many_touched),    TEST(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
