/* The text form of the IR: what is printed reads back as the same text, locations, names and exact
 * constants included; malformed text is an error with its place, whatever it is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static rg_module *read_text(const char *text, size_t n, rg_text *errors) {
    rg_diags *d = RG_NEW(arena, rg_diags);
    d->arena = arena;
    rg_module *m = rg_ir_read(arena, d, "t.ir", text, n);
    rg_diags_render(d, errors);
    assert_int_equal(m == NULL, d->errors != 0);
    return m;
}

static const char *printed(const rg_module *m) {
    rg_text t = {.arena = arena};
    rg_ir_print_module(m, &t);
    return rg_text_str(&t);
}

/* Every construct in its canonical spelling. */
static const char *const everything =
    "struct vec3 { f32 x; f32 y; f32 z; }\n"
    "struct body { struct vec3 pos[2]; f64 m[2][3]; i8 tag; }\n"
    "\n"
    "kernel step adjoint  ; a/b-1.c:3:6\n"
    "  param 0 n: i32  ; a/b-1.c:3:14\n"
    "  param 1 k: const struct vec3\n"
    "  param 2 x: const struct body[n][(n + 1) * 2] @1.x\n"
    "  param 3 e: f32[?][\" [n]\"] @2.e\n"
    "  scalar $0: i32 of 0 at 0\n"
    "  scalar $1: f32 of 1 at 0 \".x\"\n"
    "  scalar $2: f32 of 1 at 4 \".y\"\n"
    "  scalar $3: f32 of 1 at 8 \".z\"\n"
    "  array @1.x: param 2 const before struct body[%4, %5.m]  ; a/b-1.c:3:30\n"
    "  array @2.e: param 3 written after f32[?, %4]\n"
    "  array @3.e_b: shadow 3 grad dot f32[?, ?]\n"
    "  array @4.k_b: shadow 1 grad struct vec3[]\n"
    "  array @5.\"odd name\": local zero save f64[*, *]\n"
    "  array @6.list: local grow i32[*]\n"
    "  array @7.s: local f64[]\n"
    "  array @8.row: local f64[*]\n"
    "{\n"
    "  %1.n: i32 = scalar $0  ; a/b-1.c:3:14\n"
    "  %2: f32 = scalar $1\n"
    "  %4: i64 = cast %1.n  ; \"weird file\\\".c\":12:1\n"
    "  %5.m: i64 = extent @1.x, 1\n"
    "  %6: f32 = const 0.1\n"
    "  %7: f64 = const -inf\n"
    "  %8: f64 = const nan\n"
    "  %9: f64 = const -0.0\n"
    "  %10: bool = const true\n"
    "  %11: u64 = const 18446744073709551615\n"
    "  %12: i64 = const -9223372036854775808\n"
    "  %13: i32 = const 0\n"
    "  %14: f64 = const 1.5e-300\n"
    "  %15: i32 = wrap u8 %1.n\n"
    "  %16: bool = lt %13, %1.n\n"
    "  %17: f32 = fma %2, %6, %2\n"
    "  alloc @5.\"odd name\"[%4, %5.m]\n"
    "  alloc @6.list[]\n"
    "  alloc @7.s[]\n"
    "  alloc @8.row[%5.m]\n"
    "  copy save @8.row[] = @5.\"odd name\"[%13]\n"
    "  copy @5.\"odd name\"[%13] = @8.row[]\n"
    "  copy @8.row[] = @8.row[]\n"
    "  %20: f64, %21: f32 = if %16 {  ; a/b-1.c:7:3\n"
    "    store @7.s[] = %14\n"
    "    %18: f64 = load @7.s[]\n"
    "    yield %18, %2\n"
    "  } else {\n"
    "    yield %9, %6\n"
    "  }\n"
    "  %30.sum: f64 = for reverse %22.i: i32 = %13 to %1.n carry %23.acc: f64 = %20 {\n"
    "    store save @6.list[%22.i] = %1.n\n"
    "    %24: f32 = load @1.x[%22.i, %13].pos[%13].y\n"
    "    %25: f64 = load @1.x[%22.i, %13].m[%13][%22.i]\n"
    "    %26: f64 = add %23.acc, %25\n"
    "    yield %26\n"
    "  }\n"
    "  %40: i32 = loop carry %41.c: i32 = %13 {\n"
    "    %42: i32 = add %41.c, %1.n\n"
    "    %43: bool = gt %42, %1.n\n"
    "    yield %43, %42\n"
    "  }\n"
    "  loop {\n"
    "    %44: bool = const false\n"
    "    yield %44\n"
    "  }\n"
    "  %50: f32, %51: i32 = parallel %52.i: i32 = %13 to %1.n, %53.j: i32 = %13 to %1.n reduce add "
    "%54: f32 = %6, max %55: i32 = %13 {  ; a/b-1.c:9:5\n"
    "    %56: f32 = load atomic @2.e[%52.i, %53.j]\n"
    "    addto atomic accum @3.e_b[%52.i, %53.j] += %56\n"
    "    addto private scalarized @4.k_b[].z += %56\n"
    "    %57: f32 = rmw new add @3.e_b[%52.i, %53.j], %56\n"
    "    %60: f32 = rmw set @2.e[%52.i, %53.j], %57\n"
    "    %58: f32 = red add %54, %57\n"
    "    %59: i32 = red max %55, %52.i\n"
    "    yield %58, %59\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "\n"
    "kernel empty primal\n"
    "{\n"
    "  yield\n"
    "}\n";

static void test_round_trip(void **state) {
    (void)state;
    rg_text errors = {.arena = arena};
    rg_module *m = read_text(everything, strlen(everything), &errors);
    assert_string_equal(rg_text_str(&errors), "");
    assert_string_equal(printed(m), everything);
    rg_text fault = {.arena = arena};
    for (uint32_t k = 0; k < m->kernels.n; k++)
        if (!rg_ir_verify(m->kernels.at[k], &fault))
            fail_msg("%s", rg_text_str(&fault));
    const rg_fn *f = m->kernels.at[0];
    assert_int_equal(f->mode, RG_ADJOINT);
    assert_int_equal(f->params.at[1].nscalars, 3);
    assert_string_equal(f->params.at[3].extent_text[1], " [n]");
    assert_null(f->params.at[3].extent_text[0]);
    assert_string_equal(rg_sources_where(m->sources, arena, f->params.at[0].loc), "a/b-1.c:3:14");
    assert_true(f->ins.at[f->vals.at[6].def].imm.f == (double)0.1f);
    assert_true(signbit(f->ins.at[f->vals.at[9].def].imm.f));
    /* A clone is printed alike. */
    rg_text one = {.arena = arena}, two = {.arena = arena};
    rg_ir_print(f, &one);
    rg_ir_print(rg_fn_clone(arena, f), &two);
    assert_string_equal(rg_text_str(&one), rg_text_str(&two));
}

/* Made by the builder, with names that collide, values that no instruction defines any more and
 * locations in a file that is at hand. */
static void test_built(void **state) {
    (void)state;
    rg_module *m = RG_NEW(arena, rg_module);
    m->arena = arena;
    m->sources = rg_sources_new(arena);
    uint32_t file = rg_sources_add(m->sources, "x y.c", "a\nb\n", 4);
    rg_fn *f = rg_fn_new(arena, m, "k");
    RG_PUSH(arena, &m->kernels, f);
    RG_PUSH(
        arena, &f->params,
        (rg_param){.name = "x", .is_array = true, .array = 1, .elem = rg_elem_scalar(RG_M_F16)});
    rg_array x = {.name = "x", .elem = rg_elem_scalar(RG_M_F16), .rank = 1};
    x.extents = RG_NEW(arena, rg_val);
    rg_array_new(f, &x);
    rg_build *b = rg_b_new(f);
    rg_value_new(f, RG_F32); /* a hole in the numbers */
    b->loc = rg_sources_loc(m->sources, file, 2, 1);
    rg_val n = rg_b_extent(b, 1, 0), zero = rg_b_int(b, RG_I64, 0);
    rg_b_name(b, n, "1.2");
    rg_iid loop = rg_b_for(b, zero, n, NULL, 0, 0);
    rg_b_push(b, rg_ins_at(f, loop)->region[0]);
    rg_val i = rg_b_arg(b, 0);
    rg_b_name(b, i, "i");
    rg_val v = rg_b_load(b, 1, 0, &i, 0);
    v = rg_b_op2(b, RG_MUL, v, rg_b_real(b, RG_F32, 16777217.0 / 3));
    rg_b_store(b, 1, 0, &i, v, RG_INS_ATOMIC);
    rg_b_yield(b, NULL, 0);
    rg_b_pop(b);
    rg_b_yield(b, NULL, 0);

    const char *text = printed(m);
    assert_non_null(strstr(text, "; \"x y.c\":2:1\n"));
    rg_text errors = {.arena = arena};
    rg_module *again = read_text(text, strlen(text), &errors);
    assert_string_equal(rg_text_str(&errors), "");
    assert_string_equal(printed(again), text);
    rg_text fault = {.arena = arena};
    if (!rg_ir_verify(again->kernels.at[0], &fault))
        fail_msg("%s", rg_text_str(&fault));
}

static void test_random_constants(void **state) {
    (void)state;
    uint64_t s = 88172645463325252u; /* xorshift64: Marsaglia 2003 */
    for (int k = 0; k < 300; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        double d;
        float f;
        uint32_t low = (uint32_t)s;
        memcpy(&d, &s, sizeof d);
        memcpy(&f, &low, sizeof f);
        rg_fn *fn = rg_fn_new(arena, NULL, "c");
        rg_build *b = rg_b_new(fn);
        rg_val a = rg_b_real(b, RG_F64, d), c = rg_b_real(b, RG_F32, (double)f);
        rg_val e = rg_b_int(b, RG_U64, (int64_t)s), g = rg_b_int(b, RG_I32, (int32_t)low);
        rg_b_yield(b, NULL, 0);
        rg_text t = {.arena = arena}, errors = {.arena = arena};
        rg_ir_print(fn, &t);
        rg_module *m = read_text(rg_text_str(&t), t.n, &errors);
        assert_string_equal(rg_text_str(&errors), "");
        const rg_fn *h = m->kernels.at[0];
        double da = h->ins.at[h->vals.at[a].def].imm.f, dc = h->ins.at[h->vals.at[c].def].imm.f;
        assert_true(isnan(d) ? isnan(da) : memcmp(&da, &d, sizeof d) == 0);
        assert_true(isnan(f) ? isnan(dc) : dc == (double)f);
        assert_true(h->ins.at[h->vals.at[e].def].imm.i == (int64_t)s);
        assert_true(h->ins.at[h->vals.at[g].def].imm.i == (int32_t)low);
    }
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"kernel", "t.ir:1:7: error: expected the name of the kernel"},
        {"kernel k\n{\n yield\n}\n", "t.ir:1:9: error: expected primal, tangent, adjoint or hvp"},
        {"kernel k primal\n{\n  yield %1\n}\n", "t.ir:3:9: error: %1 is not defined above"},
        {"kernel k primal\n{\n  yield\n", "t.ir:4:1: error: expected '}' after the yield"},
        {"kernel k primal\n{\n}\n", "t.ir:3:1: error: a region ends with a yield"},
        {"kernel k primal\n{\n  %1: i32 = foo\n", "t.ir:3:13: error: expected an operation"},
        {"kernel k primal\n{\n  %1: i32 = const 2147483648\n",
         "t.ir:3:19: error: a constant is too large"},
        {"kernel k primal\n{\n  %1: bool = const 5\n", "t.ir:3:20: error: a constant is too large"},
        {"kernel k primal\n{\n  %4000000000: i32 = const 1\n",
         "t.ir:3:4: error: the number of a value is too large"},
        {"kernel k primal\n{\n  %1: i32 = load @1[]\n", "t.ir:3:18: error: there is no array @1"},
        {"kernel k primal\n array @1.x: param 0 f32[]\n",
         "t.ir:2:20: error: there is no such parameter above"},
        {"kernel k primal\n param 0 x: f32[n] @3\n{\n yield\n}\n",
         "t.ir:2:20: error: there is no array @3"},
        {"kernel k primal\n param 0 x: struct s\n", "t.ir:2:20: error: unknown struct type"},
        {"kernel k primal\n param 0 x: i32\n scalar $0: f64 of 0 at 0\n",
         "t.ir:3:25: error: this scalar is not within its parameter"},
        {"struct s { f32 a[100000][100000]; }\n",
         "t.ir:1:16: error: this field has no elements, or too many"},
        {"struct s { f32 a; f32 a; }\n", "t.ir:1:23: error: this field is defined twice"},
        {"kernel k primal\n{\n  %1: i32 = const 1\n  %1: i32 = const 1\n",
         "t.ir:4:3: error: %1 is defined twice"},
        {"kernel k primal\n{\n  %1.a: i32 = const 1\n  yield %1.b\n",
         "t.ir:4:9: error: %1 is not named 'b'"},
        {"kernel k primal\n{\n  %1: f32 = const 1\n  %2: f32 = add %1\n",
         "t.ir:4:17: error: add has 2 operands, not 1"},
        {"kernel \"a\\q\" primal\n", "t.ir:1:11: error: unknown escape in quoted text"},
        {"kernel \"a\n", "t.ir:1:8: error: this text has no closing quote"},
        {"kernel k primal  ; f.c:1\n{", "t.ir:1:25: error: expected ':'"},
        {"hello", "t.ir:1:1: error: expected 'struct' or 'kernel'"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        rg_text errors = {.arena = arena};
        assert_null(read_text(bad[k].text, strlen(bad[k].text), &errors));
        if (strncmp(rg_text_str(&errors), bad[k].error, strlen(bad[k].error)) != 0)
            fail_msg("case %zu: %s", k, rg_text_str(&errors));
    }
    rg_text deep = {.arena = arena}, errors = {.arena = arena};
    rg_text_add(&deep, "kernel k primal\n{\n");
    for (int k = 0; k < 100000; k++)
        rg_text_add(&deep, "loop {\n");
    assert_null(read_text(rg_text_str(&deep), deep.n, &errors));
    assert_non_null(strstr(rg_text_str(&errors), "nested too deep"));
}

/* A function that a pass broke is printed all the same, and not accepted. */
static void test_malformed_is_printed(void **state) {
    (void)state;
    rg_fn *f = rg_fn_new(arena, NULL, "k");
    rg_build *b = rg_b_new(f);
    rg_val x = rg_b_int(b, RG_I32, 3);
    rg_iid i = rg_ins_new(f, RG_FOR, 0);
    rg_ins_add_operand(f, i, x);
    rg_region_insert(f, f->body, 1, i);
    rg_text t = {.arena = arena}, errors = {.arena = arena};
    rg_ir_print(f, &t);
    assert_non_null(strstr(rg_text_str(&t), "malformed for %1"));
    assert_null(read_text(rg_text_str(&t), t.n, &errors));
}

/* Reads, prints, reads again, verifies, runs. */
static void try_damaged(const char *text, size_t size, unsigned *accepted, unsigned *verified) {
    if (RG_GUARD(arena)) {
        fail_msg("threw: %s", rg_arena_message(arena));
        return;
    }
    rg_text errors = {.arena = arena};
    const rg_module *m = read_text(text, size, &errors);
    if (!m)
        return;
    ++*accepted;
    const char *once = printed(m);
    const rg_module *again = read_text(once, strlen(once), &errors);
    if (!again)
        fail_msg("%s\n%s", rg_text_str(&errors), once);
    assert_string_equal(printed(again), once);
    for (uint32_t x = 0; x < m->kernels.n; x++) {
        const rg_fn *f = m->kernels.at[x];
        rg_text out = {.arena = arena};
        rg_loc loc;
        if (!rg_ir_verify(f, &out))
            continue;
        ++*verified;
        int64_t big[64] = {3};
        const void *scalars[64];
        for (int k = 0; k < 64; k++)
            scalars[k] = big;
        rg_interp_args args = {.scalars = scalars, .max_steps = 1000, .races = true};
        if (f->params.n <= 64)
            rg_interp(f, &args, &out, &loc);
    }
}

/* Damaged text is refused or read, never worse; what verifies is printed and read again, and can
 * be run. */
static void test_damaged_text(void **state) {
    (void)state;
    static const char *const tokens[] = {
        "%1",     "@6",      "@1.x", "[",   "]",  "{",   "}",     "yield", "0",
        "-1",     ",",       "=",    "\n",  "if", "for", "loop",  "grow",  "struct",
        "999999", "%999999", "i64",  "f64", "\"", ";",   "local", "const", "param"};
    size_t n = strlen(everything);
    uint64_t s = 0x2545f4914f6cdd1du;
    unsigned accepted = 0, verified = 0;
    for (int k = 0; k < 3000; k++) {
        rg_arena_free(arena);
        arena = rg_arena_new(NULL);
        assert_non_null(arena);
        char *text = RG_NEW_N(arena, char, n + 400);
        memcpy(text, everything, n);
        size_t size = n;
        for (int c = 0; c < 1 + k % 3; c++) {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            size_t at = (size_t)(s >> 8) % size;
            const char *token = tokens[(s >> 40) % (sizeof tokens / sizeof *tokens)];
            size_t tn = strlen(token);
            switch (s % 4) {
            case 0: /* another character */
                text[at] = (char)(32 + (s >> 32) % 96);
                break;
            case 1: /* a piece is lost */
                memmove(text + at, text + at + (size - at) / 16, size - at - (size - at) / 16);
                size -= (size - at) / 16;
                break;
            case 2: /* a token comes in */
                memmove(text + at + tn, text + at, size - at);
                memcpy(text + at, token, tn);
                size += tn;
                break;
            default: /* a token in place of what is there */
                if (at + tn < size)
                    memcpy(text + at, token, tn);
                break;
            }
        }
        try_damaged(text, size, &accepted, &verified);
    }
    assert_in_range(accepted, 10, 3000);
    assert_in_range(verified, 10, 6000);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_round_trip),           TEST(test_built),
                                       TEST(test_random_constants),     TEST(test_errors),
                                       TEST(test_malformed_is_printed), TEST(test_damaged_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
