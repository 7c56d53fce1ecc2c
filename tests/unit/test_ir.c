/* Builder, folding, evaluation, cloning and verification of the IR. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ir/eval.h"
#include "ir/fold.h"
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

/* A kernel with the scalars n (i32), x (f32) and y (f64), and the arrays u (f32, rank 1), c (const)
 * and s (struct {float v[3]; short k;}). */
enum { S_N, S_X, S_Y };
enum { A_U = 1, A_C, A_S };
static rg_build *kernel(void) {
    rg_fn *f = rg_fn_new(arena, NULL, "k");
    RG_PUSH(arena, &f->params, (rg_param){.name = "all"});
    RG_PUSH(arena, &f->scalars, (rg_scalar){.mem = RG_M_I32, .path = ""});
    RG_PUSH(arena, &f->scalars, (rg_scalar){.mem = RG_M_F32, .path = ""});
    RG_PUSH(arena, &f->scalars, (rg_scalar){.mem = RG_M_F64, .path = ""});
    rg_array u = {.name = "u", .elem = rg_elem_scalar(RG_M_F32), .rank = 1};
    assert_int_equal(rg_array_new(f, &u), A_U);
    rg_array c = {.name = "c", .elem = u.elem, .rank = 1, .flags = RG_ARR_CONST};
    assert_int_equal(rg_array_new(f, &c), A_C);
    rg_elem *e = RG_NEW(arena, rg_elem);
    e->is_struct = true;
    e->name = "s";
    e->nfields = 2;
    e->fields = RG_NEW_N(arena, rg_field, 2);
    int64_t *dims = RG_NEW(arena, int64_t);
    *dims = 3;
    e->fields[0] = (rg_field){"v", rg_elem_scalar(RG_M_F32), 1, dims, 0};
    e->fields[1] = (rg_field){"k", rg_elem_scalar(RG_M_I16), 0, NULL, 0};
    rg_elem_finish(arena, e);
    rg_array s = {.name = "s", .elem = e, .rank = 1};
    assert_int_equal(rg_array_new(f, &s), A_S);
    return rg_b_new(f);
}

static bool valid(const rg_fn *f) {
    rg_text out = {.arena = arena};
    bool fine = rg_ir_verify(f, &out);
    if (!fine && getenv("RG_TEST_VERBOSE"))
        print_message("%s\n", rg_text_str(&out));
    return fine;
}
static void assert_valid(const rg_fn *f) {
    rg_text out = {.arena = arena};
    if (!rg_ir_verify(f, &out))
        fail_msg("%s", rg_text_str(&out));
}
static void assert_broken(const rg_fn *f, const char *why) {
    rg_text out = {.arena = arena};
    assert_false(rg_ir_verify(f, &out));
    if (!strstr(rg_text_str(&out), why))
        fail_msg("'%s' does not say '%s'", rg_text_str(&out), why);
}

static void test_struct_layout(void **state) {
    (void)state;
    const rg_elem *e = rg_array_at(kernel()->fn, A_S)->elem;
    assert_int_equal(e->size, 16);
    assert_int_equal(e->align, 4);
    assert_int_equal(e->nleaves, 2);
    assert_string_equal(e->leaves[0].path, ".v[%]");
    assert_int_equal(e->leaves[0].strides[0], 4);
    assert_string_equal(e->leaves[1].path, ".k");
    assert_int_equal(e->leaves[1].offset, 12);
    assert_true(rg_elem_has_float(e));
}

static void test_op_table(void **state) {
    (void)state;
    for (int op = RG_OP_NONE + 1; op < RG_N_OPS; op++) {
        assert_non_null(rg_ops[op].text);
        assert_int_equal(rg_op_find(rg_ops[op].text, strlen(rg_ops[op].text)), op);
    }
    assert_int_equal(rg_op_find("sinx", 3), RG_SIN);
    assert_int_equal(rg_op_find("si", 2), RG_OP_NONE);
    assert_true(rg_op_is_pure(RG_SIN));
    assert_false(rg_op_is_pure(RG_LOAD));
    assert_false(rg_op_is_pure(RG_IF));
}

static void test_fold_float(void **state) {
    (void)state;
    rg_build *b = kernel();
    rg_val x = rg_b_scalar(b, S_X), one = rg_b_real(b, RG_F32, 1), zero = rg_b_zero(b, RG_F32),
           minus_zero = rg_b_real(b, RG_F32, -0.0), two = rg_b_real(b, RG_F32, 2);
    assert_int_equal(rg_b_op2(b, RG_MUL, x, one), x);
    assert_int_equal(rg_b_op2(b, RG_MUL, one, x), x);
    assert_int_equal(rg_b_op2(b, RG_DIV, x, one), x);
    assert_int_equal(rg_b_op2(b, RG_SUB, x, zero), x);
    assert_int_equal(rg_b_op2(b, RG_ADD, x, minus_zero), x);
    assert_int_not_equal(rg_b_op2(b, RG_ADD, x, zero), x);
    assert_int_not_equal(rg_b_op2(b, RG_SUB, x, minus_zero), x);
    assert_int_equal(rg_def_op(b->fn, rg_b_op2(b, RG_MUL, x, zero)), RG_MUL);
    assert_int_equal(rg_def_op(b->fn, rg_b_op2(b, RG_SUB, x, x)), RG_SUB);
    rg_val n = rg_b_op1(b, RG_NEG, x);
    assert_int_equal(rg_b_op1(b, RG_NEG, n), x);
    assert_int_equal(rg_def_op(b->fn, rg_b_op2(b, RG_ADD, x, n)), RG_SUB);
    assert_int_equal(rg_def_op(b->fn, rg_b_op2(b, RG_ZMUL, x, two)), RG_MUL);
    assert_int_equal(rg_def_op(b->fn, rg_b_op2(b, RG_ZMUL, two, x)), RG_MUL);
    rg_val inf = rg_b_op2(b, RG_DIV, one, zero);
    double d;
    assert_true(rg_val_const_real(b->fn, inf, &d) && isinf(d));
    assert_int_equal(rg_def_op(b->fn, rg_b_op2(b, RG_ZMUL, x, inf)), RG_ZMUL);
    assert_true(rg_val_const_real(b->fn, rg_b_op2(b, RG_ZMUL, zero, x), &d) && d == 0);
    /* sin is not the same bits everywhere */
    assert_int_equal(rg_def_op(b->fn, rg_b_op1(b, RG_SIN, one)), RG_SIN);
    assert_int_equal(rg_b_acc(b, 0, x), x);
    assert_int_equal(rg_b_acc(b, zero, x), x);
    assert_int_equal(rg_b_acc(b, x, zero), x);
    assert_int_equal(rg_b_acc(b, zero, 0), zero);
    assert_int_equal(rg_def_op(b->fn, rg_b_acc(b, x, n)), RG_SUB);
}

static void test_fold_int_and_bool(void **state) {
    (void)state;
    rg_build *b = kernel();
    rg_fn *f = b->fn;
    rg_val n = rg_b_scalar(b, S_N), c3 = rg_b_int(b, RG_I32, 3), c5 = rg_b_int(b, RG_I32, 5), v;
    int64_t k;
    v = rg_b_op2(b, RG_SUB, rg_b_op2(b, RG_ADD, n, c3), c5);
    assert_int_equal(rg_def_op(f, v), RG_SUB);
    assert_int_equal(rg_operand(f, rg_value_at(f, v)->def, 0), n);
    assert_true(rg_val_const_int(f, rg_operand(f, rg_value_at(f, v)->def, 1), &k) && k == 2);
    assert_int_equal(rg_b_op2(b, RG_ADD, v, rg_b_int(b, RG_I32, 2)), n);
    assert_true(rg_val_const_int(f, rg_b_op2(b, RG_SUB, n, n), &k) && k == 0);
    assert_int_equal(rg_b_op2(b, RG_SUB, rg_b_op2(b, RG_ADD, c3, n), n), c3);
    v = rg_b_op2(b, RG_SUB, n, rg_b_int(b, RG_I32, -4));
    assert_int_equal(rg_def_op(f, v), RG_ADD);
    assert_int_equal(rg_def_op(f, rg_b_op2(b, RG_SUB, n, rg_b_int(b, RG_I32, INT32_MIN))), RG_SUB);
    /* no signed overflow is introduced */
    v = rg_b_op2(b, RG_ADD, rg_b_op2(b, RG_ADD, n, rg_b_int(b, RG_I32, INT32_MAX)), c3);
    assert_int_equal(rg_def_op(f, rg_operand(f, rg_value_at(f, v)->def, 0)), RG_ADD);
    assert_true(rg_val_const_int(f, rg_b_int(b, RG_U32, -1), &k) && k == (int64_t)UINT32_MAX);
    rg_val lt = rg_b_op2(b, RG_LT, n, c3);
    assert_int_equal(rg_def_op(f, rg_b_op1(b, RG_NOT, lt)), RG_GE);
    rg_val x = rg_b_scalar(b, S_X), flt = rg_b_op2(b, RG_LT, x, rg_b_zero(b, RG_F32));
    rg_val nflt = rg_b_op1(b, RG_NOT, flt);
    assert_int_equal(rg_def_op(f, nflt), RG_NOT);
    assert_int_equal(rg_b_op1(b, RG_NOT, nflt), flt);
    assert_int_equal(rg_b_op3(b, RG_SELECT, rg_b_bool(b, true), n, c3), n);
    assert_int_equal(rg_b_op3(b, RG_SELECT, lt, n, n), n);
    /* (int)(a < b) != 0 */
    rg_val truth = rg_b_op2(b, RG_NE, rg_b_cast(b, RG_I32, lt), rg_b_int(b, RG_I32, 0));
    assert_int_equal(truth, lt);
    /* the same constant is not made twice in a row */
    assert_int_equal(rg_b_int(b, RG_I32, 77), rg_b_int(b, RG_I32, 77));
    assert_int_not_equal(rg_b_real(b, RG_F32, 0.0), rg_b_real(b, RG_F32, -0.0));
}

static void test_fold_cast(void **state) {
    (void)state;
    rg_build *b = kernel();
    rg_fn *f = b->fn;
    rg_val n = rg_b_scalar(b, S_N), x = rg_b_scalar(b, S_X), y = rg_b_scalar(b, S_Y);
    assert_int_equal(rg_b_cast(b, RG_I32, rg_b_cast(b, RG_I64, n)), n);
    assert_int_equal(rg_b_cast(b, RG_I32, rg_b_cast(b, RG_F64, n)), n);
    assert_int_equal(rg_b_cast(b, RG_F32, rg_b_cast(b, RG_F64, x)), x);
    assert_int_not_equal(rg_b_cast(b, RG_F64, rg_b_cast(b, RG_F32, y)), y);
    assert_int_not_equal(rg_b_cast(b, RG_I32, rg_b_cast(b, RG_F32, n)), n);
    rg_val u = rg_b_cast(b, RG_U32, n), wide = rg_b_cast(b, RG_I64, u);
    assert_int_equal(rg_operand(f, rg_value_at(f, wide)->def, 0), u); /* zero-extends */
    rg_val h = rg_b_wrap(b, RG_M_I8, n);
    assert_int_equal(rg_b_wrap(b, RG_M_I8, h), h);
    assert_int_equal(rg_b_wrap(b, RG_M_I16, h), h);
    assert_int_not_equal(rg_b_wrap(b, RG_M_U8, h), h);
    assert_int_equal(rg_b_wrap(b, RG_M_I32, n), n);
}

static rg_const eval2(rg_op op, rg_type t, rg_type xt, rg_const x, rg_const y) {
    rg_const v[2] = {x, y}, r = {0};
    assert_true(rg_eval(op, t, xt, 0, v, &r));
    return r;
}
#define I(v) ((rg_const){.i = (v)})
#define D(v) ((rg_const){.f = (v)})

static void test_eval(void **state) {
    (void)state;
    rg_const r, v[2];
    assert_int_equal(eval2(RG_ADD, RG_I32, RG_I32, I(INT32_MAX), I(1)).i, INT32_MIN);
    assert_int_equal(eval2(RG_SUB, RG_U32, RG_U32, I(0), I(1)).i, UINT32_MAX);
    assert_int_equal(eval2(RG_SHR, RG_I32, RG_I32, I(-8), I(1)).i, -4);
    assert_int_equal(eval2(RG_SHR, RG_U64, RG_U64, I(-1), I(63)).i, 1);
    assert_int_equal(eval2(RG_DIV, RG_I32, RG_I32, I(-7), I(2)).i, -3);
    assert_int_equal(eval2(RG_REM, RG_I32, RG_I32, I(-7), I(2)).i, -1);
    assert_int_equal(eval2(RG_LT, RG_BOOL, RG_U64, I(-1), I(1)).i, 0);
    assert_int_equal(eval2(RG_NE, RG_BOOL, RG_F64, D((double)NAN), D((double)NAN)).i, 1);
    v[0] = I(1);
    v[1] = I(0);
    assert_false(rg_eval(RG_DIV, RG_I32, RG_I32, 0, v, &r));
    v[0] = I(INT32_MIN);
    v[1] = I(-1);
    assert_false(rg_eval(RG_REM, RG_I32, RG_I32, 0, v, &r));
    v[1] = I(32);
    assert_false(rg_eval(RG_SHL, RG_I32, RG_I32, 0, v, &r));
    assert_true(eval2(RG_ADD, RG_F32, RG_F32, D(16777216), D(1)).f == 16777216);
    assert_true(eval2(RG_ZMUL, RG_F64, RG_F64, D(-0.0), D((double)INFINITY)).f == 0);
    struct {
        rg_type to;
        double from;
        int64_t want;
    } casts[] = {{RG_I32, 3e9, INT32_MAX},
                 {RG_I32, -3e9, INT32_MIN},
                 {RG_U32, -1, 0},
                 {RG_U32, 4294967295.5, UINT32_MAX},
                 {RG_I64, 1e30, INT64_MAX},
                 {RG_I64, -9.5, -9},
                 {RG_U64, 1e30, (int64_t)UINT64_MAX},
                 {RG_I32, (double)NAN, 0},
                 {RG_BOOL, 0.25, 1},
                 {RG_BOOL, (double)NAN, 1}};
    for (unsigned k = 0; k < sizeof casts / sizeof *casts; k++) {
        v[0] = D(casts[k].from);
        assert_true(rg_eval(RG_CAST, casts[k].to, RG_F64, 0, v, &r));
        assert_int_equal(r.i, casts[k].want);
    }
    v[0] = I((int64_t)1 << 62 | 1);
    assert_true(rg_eval(RG_CAST, RG_F32, RG_I64, 0, v, &r) && r.f == 0x1p62);
    v[0] = I(-1);
    assert_true(rg_eval(RG_CAST, RG_F64, RG_U64, 0, v, &r) && r.f == 0x1p64);
    assert_int_equal(rg_eval_wrap(RG_M_I8, I(200)).i, -56);
    assert_int_equal(rg_eval_wrap(RG_M_U16, I(-1)).i, 65535);
    assert_true(rg_eval_red(RG_RED_MIN, RG_F32, D(2), D(1)).f == 1);
    assert_true(rg_red_identity(RG_RED_MAX, RG_F64).f == -(double)INFINITY);
    assert_int_equal(rg_red_identity(RG_RED_AND, RG_U32).i, UINT32_MAX);
}

static void test_half(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        float v = rg_half_to_float((uint16_t)h);
        if (!isnan(v))
            assert_int_equal(rg_half_from_float(v), h);
    }
    assert_true(rg_half_to_float(0x3c00) == 1);
    assert_true(rg_half_to_float(1) == 0x1p-24f);
    assert_true(isnan(rg_half_to_float(rg_half_from_float(NAN))));
    assert_int_equal(rg_half_from_float(65519.99f), 0x7bff);
    assert_int_equal(rg_half_from_float(65520), 0x7c00);
    assert_int_equal(rg_half_from_float(0x1p-25f), 0);
    assert_int_equal(rg_half_from_float(0x1.000002p-25f), 1);
    assert_int_equal(rg_half_from_float(1 + 0x1p-11f), 0x3c00);
    assert_int_equal(rg_half_from_float(1 + 0x3p-11f), 0x3c02);
}

static void test_digamma(void **state) {
    (void)state;
    const double at[][2] = {{1, -0.57721566490153286061},
                            {0.5, -1.96351002602142347944},
                            {10.5, 2.3030010342976865},
                            {-0.5, 0.03648997397857652056},
                            {-3.25, -1.8146149146330}};
    for (int k = 0; k < 4; k++)
        assert_true(fabs(rg_digamma(at[k][0]) - at[k][1]) <= 4e-15 * (1 + fabs(at[k][1])));
    assert_true(isnan(rg_digamma(-2)));
    assert_true(fabs(rg_digamma(1e10) - log(1e10)) < 1e-9);
}

/* for (i = 0; i < n; i++) { if (u[i] < 0) s += u[i]; else s -= x; }  with the pieces kept */
typedef struct sample {
    rg_build *b;
    rg_iid loop, branch, load;
} sample;
static sample build_sample(void) {
    sample s = {.b = kernel()};
    rg_build *b = s.b;
    rg_val n = rg_b_scalar(b, S_N), x = rg_b_scalar(b, S_X), zero = rg_b_zero(b, RG_F32);
    s.loop = rg_b_for(b, rg_b_int(b, RG_I32, 0), n, &zero, 1, 0);
    rg_b_push(b, rg_ins_at(b->fn, s.loop)->region[0]);
    rg_val iv = rg_b_arg(b, 0), acc = rg_b_arg(b, 1);
    rg_val u = rg_b_load(b, A_U, 0, &iv, 0);
    s.load = rg_value_at(b->fn, u)->def;
    s.branch = rg_b_if(b, rg_b_op2(b, RG_LT, u, rg_b_zero(b, RG_F32)));
    rg_b_push(b, rg_ins_at(b->fn, s.branch)->region[0]);
    rg_val plus = rg_b_op2(b, RG_ADD, acc, u);
    rg_b_yield(b, &plus, 1);
    rg_b_pop(b);
    rg_b_push(b, rg_ins_at(b->fn, s.branch)->region[1]);
    rg_val minus = rg_b_op2(b, RG_SUB, acc, x);
    rg_b_yield(b, &minus, 1);
    rg_b_pop(b);
    rg_b_if_done(b, s.branch);
    rg_val next = rg_result(b->fn, s.branch, 0);
    rg_b_yield(b, &next, 1);
    rg_b_pop(b);
    rg_val at = rg_b_int(b, RG_I64, 0);
    rg_b_store(b, A_U, 0, &at, rg_result(b->fn, s.loop, 0), 0);
    rg_b_yield(b, NULL, 0);
    return s;
}

static void test_verify_accepts(void **state) {
    (void)state;
    sample s = build_sample();
    assert_valid(s.b->fn);
    /* a closed region still takes instructions, in front of its yield or of another one */
    rg_b_push_before(s.b, s.load);
    rg_val v = rg_b_op2(s.b, RG_ADD, rg_region_at(s.b->fn, s.b->region)->args.at[0],
                        rg_b_int(s.b, RG_I32, 4));
    rg_b_pop(s.b);
    assert_true(v != 0);
    rg_b_real(s.b, RG_F64, 42);
    assert_valid(s.b->fn);
}

static void test_verify_rejects(void **state) {
    (void)state;
    sample s = build_sample();
    rg_fn *f = s.b->fn;
    f->pool.at[rg_ins_at(f, rg_yield_of(f, f->body))->opnd] = 0;
    rg_ins_at(f, s.load)->array = 99;
    assert_broken(f, "names no array");

    s = build_sample(), f = s.b->fn;
    rg_value_at(f, rg_result(f, s.load, 0))->type = RG_F64;
    assert_broken(f, "holds f32");

    s = build_sample(), f = s.b->fn;
    rg_ins_at(f, s.load)->parent = f->body;
    assert_broken(f, "its parent is");

    s = build_sample(), f = s.b->fn; /* the load moves behind its use */
    rg_region *g = rg_region_at(f, rg_ins_at(f, s.load)->parent);
    rg_iid swap = g->ins.at[0];
    g->ins.at[0] = g->ins.at[2];
    g->ins.at[2] = swap;
    assert_broken(f, "not in scope");

    s = build_sample(), f = s.b->fn;
    rg_ins_remove_operand(f, rg_yield_of(f, rg_ins_at(f, s.branch)->region[1]), 0);
    assert_broken(f, "yields 0 values");

    s = build_sample(), f = s.b->fn;
    rg_array_at(f, A_U)->flags |= RG_ARR_CONST;
    assert_broken(f, "'u' is const");

    s = build_sample(), f = s.b->fn;
    rg_ins_add_operand(f, s.load, rg_operand(f, s.load, 0));
    assert_broken(f, "takes 1 indices");

    s = build_sample(), f = s.b->fn;
    g = rg_region_at(f, f->body);
    rg_region_insert(f, f->body, g->ins.n - 1, g->ins.at[0]);
    assert_broken(f, "listed twice");

    s = build_sample(), f = s.b->fn;
    rg_region_at(f, f->body)->ins.n--;
    assert_broken(f, "must end with");
}

/* parallel i < n: s += u[i] under if; returns the parallel */
static rg_iid build_reduction(rg_build *b) {
    rg_val bounds[2] = {rg_b_int(b, RG_I32, 0), rg_b_scalar(b, S_N)}, init = rg_b_zero(b, RG_F32);
    rg_red kind = RG_RED_ADD;
    rg_iid p = rg_b_parallel(b, bounds, 1, &init, &kind, 1);
    rg_b_push(b, rg_ins_at(b->fn, p)->region[0]);
    rg_val iv = rg_b_arg(b, 0), acc = rg_b_arg(b, 1), x = rg_b_load(b, A_U, 0, &iv, 0);
    rg_iid i = rg_b_if(b, rg_b_op2(b, RG_LT, x, rg_b_zero(b, RG_F32)));
    rg_b_push(b, rg_ins_at(b->fn, i)->region[0]);
    rg_val sum = rg_b_red(b, kind, acc, x);
    rg_b_yield(b, &sum, 1);
    rg_b_pop(b);
    rg_b_push(b, rg_ins_at(b->fn, i)->region[1]);
    rg_b_yield(b, &acc, 1);
    rg_b_pop(b);
    rg_b_if_done(b, i);
    rg_val out = rg_result(b->fn, i, 0);
    rg_b_yield(b, &out, 1);
    rg_b_pop(b);
    rg_b_yield(b, NULL, 0);
    return p;
}

static void test_verify_parallel(void **state) {
    (void)state;
    rg_build *b = kernel();
    rg_iid p = build_reduction(b);
    assert_valid(b->fn);
    rg_rid body = rg_ins_at(b->fn, p)->region[0];
    rg_b_push(b, body);
    rg_b_op2(b, RG_MUL, rg_b_arg(b, 1), rg_b_arg(b, 1));
    rg_b_pop(b);
    assert_broken(b->fn, "something else than red");

    b = kernel();
    p = build_reduction(b);
    rg_pool_add(b->fn, NULL, 0);
    b->fn->pool.at[rg_ins_at(b->fn, p)->aux] = RG_RED_MUL;
    assert_broken(b->fn, "another kind");

    b = kernel();
    p = build_reduction(b);
    rg_b_push(b, rg_ins_at(b->fn, p)->region[0]);
    rg_val bounds[2] = {rg_b_int(b, RG_I32, 0), rg_b_int(b, RG_I32, 3)};
    rg_iid inner = rg_b_parallel(b, bounds, 1, NULL, NULL, 0);
    rg_b_push(b, rg_ins_at(b->fn, inner)->region[0]);
    rg_b_yield(b, NULL, 0);
    rg_b_pop(b);
    rg_b_pop(b);
    assert_broken(b->fn, "parallel inside parallel");
}

static void test_locals(void **state) {
    (void)state;
    rg_build *b = kernel();
    rg_fn *f = b->fn;
    rg_val n = rg_b_cast(b, RG_I64, rg_b_scalar(b, S_N)), i = rg_b_int(b, RG_I64, 1);
    rg_aid t = rg_b_alloc(b, "t", rg_elem_scalar(RG_M_F32), 1, &n, RG_ARR_ZERO);
    rg_b_copy(b, t, A_U, NULL, 0);
    rg_val idx[2] = {i, i};
    rg_val v = rg_b_load(b, A_S, 0, idx, 0), k = rg_b_load(b, A_S, 1, idx, 0);
    assert_int_equal(rg_type_of(f, k), RG_I32);
    rg_b_addto(b, t, 0, &i, v, RG_INS_ATOMIC);
    rg_val old = rg_b_rmw(b, RG_RED_MAX, A_S, 1, &i, k, RG_INS_ATOMIC);
    assert_int_equal(rg_type_of(f, old), RG_I32);
    rg_b_yield(b, NULL, 0);
    assert_valid(f);
    rg_fn *g = rg_fn_clone(arena, f);
    /* uses and extents follow a replacement, through chains */
    rg_val *map = RG_NEW_N(arena, rg_val, f->vals.n);
    map[n] = v;
    map[v] = i;
    rg_fn_replace_uses(f, map);
    assert_int_equal(rg_array_at(f, t)->extents[0], i);
    assert_int_equal(rg_array_at(g, t)->extents[0], n);
    assert_valid(g);
    /* an access in front of its alloc */
    rg_region *body = rg_region_at(g, g->body);
    for (uint32_t j = 0; j < body->ins.n; j++)
        if (rg_ins_at(g, body->ins.at[j])->op == RG_ALLOC)
            rg_ins_at(g, body->ins.at[j])->array = t + 1;
    rg_array_new(g, rg_array_at(g, t));
    assert_broken(g, "not allocated here");
}

static void test_clone_survives_arena(void **state) {
    (void)state;
    rg_arena *other = rg_arena_new(NULL), *keep = arena;
    assert_non_null(other);
    arena = other;
    rg_fn *f = build_sample().b->fn;
    arena = keep;
    rg_fn *g = rg_fn_clone(arena, f);
    for (uint32_t a = 1; a < g->arrays.n; a++) /* element types belong to the module */
        g->arrays.at[a].elem = rg_elem_scalar(RG_M_F32);
    rg_arena_free(other);
    assert_string_equal(g->name, "k");
    assert_string_equal(rg_array_at(g, A_U)->name, "u");
    assert_valid(g);
}

static void test_raw_edits(void **state) {
    (void)state;
    sample s = build_sample();
    rg_fn *f = s.b->fn;
    rg_val zero = rg_operand(f, s.loop, 2);
    /* a second carried value comes and goes */
    rg_ins_add_operand(f, s.loop, zero);
    rg_rid r = rg_ins_at(f, s.loop)->region[0];
    rg_val arg = rg_region_add_arg(f, r, RG_F32);
    rg_ins_add_operand(f, rg_yield_of(f, r), arg);
    rg_ins_add_result(f, s.loop, RG_F32);
    assert_valid(f);
    assert_int_equal(rg_ins_at(f, s.loop)->nres, 2);
    rg_ins_remove_result(f, s.loop, 1);
    assert_false(valid(f));
    rg_ins_remove_operand(f, s.loop, 3);
    rg_ins_remove_operand(f, rg_yield_of(f, r), 1);
    rg_region_remove_arg(f, r, 2);
    assert_valid(f);
}

static void test_misuse_is_reported(void **state) {
    (void)state;
    rg_build *b = kernel();
    rg_val n = rg_b_scalar(b, S_N), x = rg_b_scalar(b, S_X);
    volatile int caught = 0;
    if (RG_GUARD(arena) == 0)
        rg_b_op2(b, RG_ADD, n, x);
    else
        caught++;
    if (RG_GUARD(arena) == 0)
        rg_b_store(b, A_U, 0, &n, n, 0);
    else
        caught++;
    if (RG_GUARD(arena) == 0)
        rg_b_pop(b);
    else
        caught++;
    assert_int_equal(caught, 3);
    assert_non_null(rg_arena_message(arena));
}

/* --- arenas ----------------------------------------------------------------------------------
 */

static size_t taken; /* bytes that the allocator handed out, in all */

static void *counting_resize(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (!size) {
        free(old);
        return NULL;
    }
    taken += size;
    return realloc(old, size);
}

static void test_children_share_memory(void **state) {
    (void)state;
    enum { ROUNDS = 100, ITEMS = 300, SIZE = 1000, LARGE = 3000000 };
    const rg_allocator allocator = {.resize = counting_resize};
    taken = 0;
    rg_arena *root = rg_arena_new(&allocator);
    assert_non_null(root);
    for (int r = 0; r < ROUNDS; r++) {
        rg_arena *child = rg_arena_child(root);
        assert_non_null(child);
        unsigned char *items[ITEMS], *large = rg_alloc(child, LARGE);
        for (int k = 0; k < ITEMS; k++) {
            items[k] = rg_alloc(child, SIZE);
            for (int j = 0; j < SIZE; j++) { /* zero, whatever the round before left there */
                assert_int_equal(items[k][j], 0);
                items[k][j] = (unsigned char)(k + 1);
            }
        }
        assert_true(large[0] == 0 && large[LARGE - 1] == 0);
        memset(large, 255, LARGE);
        for (int k = 0; k < ITEMS; k++)
            assert_true(items[k][0] == (unsigned char)(k + 1) &&
                        items[k][SIZE - 1] == (unsigned char)(k + 1));
        rg_arena_free(child);
    }
    assert_true(taken < 2 * (size_t)(LARGE + ITEMS * SIZE)); /* not a hundred times that */
    rg_arena_free(root);
}

static void test_grow(void **state) {
    (void)state;
    RG_VEC(uint32_t) a = {0}, b = {0};
    for (uint32_t k = 0; k < 100000; k++) { /* the last item grows in place, the other moves */
        RG_PUSH(arena, &a, k);
        if (k % 7 == 0)
            RG_PUSH(arena, &b, ~k);
    }
    for (uint32_t k = 0; k < a.n; k++) {
        assert_int_equal(a.at[k], k);
        if (k % 7 == 0)
            assert_int_equal(b.at[k / 7], ~k);
    }
    for (uint32_t k = a.n; k < a.cap; k++)
        assert_int_equal(a.at[k], 0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_struct_layout),
                                       TEST(test_op_table),
                                       TEST(test_fold_float),
                                       TEST(test_fold_int_and_bool),
                                       TEST(test_fold_cast),
                                       TEST(test_eval),
                                       TEST(test_half),
                                       TEST(test_digamma),
                                       TEST(test_verify_accepts),
                                       TEST(test_verify_rejects),
                                       TEST(test_verify_parallel),
                                       TEST(test_locals),
                                       TEST(test_clone_survives_arena),
                                       TEST(test_raw_edits),
                                       TEST(test_children_share_memory),
                                       TEST(test_grow),
                                       TEST(test_misuse_is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
