/* The preprocessor: macros, conditionals, includes, pragmas, line markers, constants, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/preprocess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct virtual_file {
    const char *path, *text;
} virtual_file;

typedef struct run {
    rg_arena *arena;
    rg_sources *sources;
    rg_diags diags;
    rg_tokens *tokens;
    rg_preprocess_options options;
    virtual_file files[4];
} run;

static const char *read_virtual(void *user, rg_arena *a, const char *path, size_t *size) {
    run *r = user;
    for (size_t i = 0; i < sizeof r->files / sizeof r->files[0]; i++)
        if (r->files[i].path && strcmp(r->files[i].path, path) == 0) {
            *size = strlen(r->files[i].text);
            return rg_strdup(a, r->files[i].text);
        }
    return NULL;
}

static void start(run *r) {
    memset(r, 0, sizeof *r);
    r->arena = rg_arena_new(NULL);
    assert_non_null(r->arena);
    r->sources = rg_sources_new(r->arena);
    r->diags = (rg_diags){.arena = r->arena, .sources = r->sources};
    r->options.read = read_virtual;
    r->options.user = r;
}

static void preprocess(run *r, const char *path, const char *text) {
    int thrown = RG_GUARD(r->arena);
    if (thrown == RG_THROW_ERRORS) /* an error that ends all: it is in the diagnostics */
        return;
    if (thrown) {
        fail_msg("thrown out of the preprocessor");
        return;
    }
    r->tokens =
        rg_preprocess(r->arena, r->sources, &r->diags, path, text, strlen(text), &r->options);
}

/* The tokens with one space between, pragmas as "$[words]", strings in quotes. */
static const char *spell(run *r) {
    rg_text t = {.arena = r->arena};
    for (uint32_t i = 0; i < r->tokens->list.n; i++) {
        const rg_token *k = &r->tokens->list.at[i];
        if (k->kind == RG_TOK_END) {
            assert_int_equal(i + 1, r->tokens->list.n);
            break;
        }
        bool opened = i && k[-1].kind == RG_TOK_PRAGMA;
        if (t.n && k->kind != RG_TOK_PRAGMA_END && !opened)
            rg_text_char(&t, ' ');
        if (k->kind == RG_TOK_PRAGMA)
            rg_text_add(&t, "$[");
        else if (k->kind == RG_TOK_PRAGMA_END)
            rg_text_char(&t, ']');
        else if (k->kind == RG_TOK_STRING)
            rg_text_format(&t, "\"%s\"", k->text);
        else
            rg_text_add(&t, k->text);
    }
    return rg_text_str(&t);
}

static const char *messages(run *r) {
    rg_text t = {.arena = r->arena};
    rg_diags_render(&r->diags, &t);
    return rg_text_str(&t);
}

static void expect(const char *text, const char *want) {
    run r;
    start(&r);
    preprocess(&r, "f.c", text);
    assert_string_equal(messages(&r), "");
    assert_string_equal(spell(&r), want);
    rg_arena_free(r.arena);
}

/* Everything that is reported, as the user sees it. */
static void expect_messages(const char *text, const char *want) {
    run r;
    start(&r);
    preprocess(&r, "f.c", text);
    assert_string_equal(messages(&r), want);
    rg_arena_free(r.arena);
}

/* One error or warning at line:col with this message and (unless NULL) this hint. */
static void expect_report(const char *text, uint32_t line, uint32_t col, const char *message,
                          const char *hint) {
    run r;
    start(&r);
    preprocess(&r, "f.c", text);
    assert_true(r.diags.list.n >= 1);
    const rg_diag *d = &r.diags.list.at[0];
    assert_string_equal(d->message, message);
    assert_string_equal(rg_sources_where(r.sources, r.arena, d->loc),
                        rg_format(r.arena, "f.c:%u:%u", line, col));
    if (hint)
        assert_string_equal(d->hint, hint);
    if (r.tokens)
        assert_int_equal(r.tokens->list.at[r.tokens->list.n - 1].kind, RG_TOK_END);
    rg_arena_free(r.arena);
}

/* ---- Macros ---- */

/* C11 6.10.3.5, examples 3 to 7. */
static void test_standard_examples(void **state) {
    (void)state;
    expect("#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n"
           "#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n"
           "#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n"
           "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n"
           "g(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n"
           "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\n"
           "char c[2][6] = { str(hello), str() };\n",
           "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) "
           "; f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( "
           "0 , 1 ) ; int i [ ] = { 1 , 23 , 4 , 5 , } ; char c [ 2 ] [ 6 ] = { \"hello\" , \"\" "
           "} ;");
    expect(
        "#define str(s) # s\n#define xstr(s) str(s)\n"
        "#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n x ## s, x ## t)\n"
        "#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n"
        "#define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n"
        "debug(1, 2);\n"
        "str(strncmp(\"abc\\0d\", \"abc\", '\\4') // this goes away\n == 0)\n"
        "xstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)\n",
        "printf ( \"x\" \"1\" \"= %d, x\" \"2\" \"= %s\" , x1 , x2 ) ; "
        "\"strncmp(\"abc\\0d\", \"abc\", '\\4') == 0\" \"vers2.h\" \"hello\" ; \"hello\" "
        "\", world\"");
    expect("#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
           "#define join(c, d) in_between(c hash_hash d)\njoin(x, y);\n",
           "\"x ## y\" ;");
    expect("#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,),\n"
           " t(10,,), t(,11,), t(,,12), t(,,) };\n",
           "int j [ ] = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;");
    expect("#define debug(...) fprintf(stderr, __VA_ARGS__)\n"
           "#define showlist(...) puts(#__VA_ARGS__)\n"
           "#define report(test, ...) ((test)?puts(#test):\\\n printf(__VA_ARGS__))\n"
           "debug(\"Flag\");\nshowlist(The first, second, and third items.);\n"
           "report(x>y, \"x is %d but y is %d\", x, y);\n",
           "fprintf ( stderr , \"Flag\" ) ; puts ( \"The first, second, and third items.\" ) ; ( ( "
           "x > y ) ? puts ( \"x>y\" ) : printf ( \"x is %d but y is %d\" , x , y ) ) ;");
}

static void test_macros(void **state) {
    (void)state;
    expect("#define a a b\n#define b a\na b\n", "a a a b"); /* each is final in itself */
    expect("#define f(x, ...) g(x, ## __VA_ARGS__)\nf(1) f(1, 2, 3) f(1,)\n",
           "g ( 1 ) g ( 1 , 2 , 3 ) g ( 1 )");
    expect("#define f(args...) h(args)\nf() f(1,2)\n", "h ( ) h ( 1 , 2 )");
    expect("#define f(x) <x>\nf f + f(f)(2) (f)(3)\nf\n\n(1)\n",
           "f f + < f > ( 2 ) ( f ) ( 3 ) < 1 >");
    expect("#define EMPTY\n#define LP (\n#define f(x) [x]\nf EMPTY (1) f LP 2)\n",
           "f ( 1 ) f ( 2 )");
    expect("#define f(x) x\n#define g f(\ng 1) f((1,2))", "1 ( 1 , 2 )");
    expect("__LINE__\n__LINE__ __FILE__\n__COUNTER__ __COUNTER__", "1 2 \"f.c\" 0 1");
    expect("#define L __LINE__\n\nL L\n#define C(x) x x\nC(__COUNTER__)", "3 3 0 0");
    expect("#define X 1 + 2\n#define X 1 + 2 // the same\nX", "1 + 2");
    expect("#include <math.h>\n#undef M_PI\n#define M_PI 3\n#define M_E 2\nM_PI M_E",
           "typedef float float_t ; typedef double double_t ; $[retrograd math] 3 2");
    expect("__RETROGRAD__ __STDC__ __STDC_VERSION__ _OPENMP", "1 1 201112L 201511");
    expect("%:define cat(a,b) a%:%:b\ncat(1,2)<::>", "12 [ ]");
    expect("#define N\\\n 1\\\n2\n#define M a\\\nb\nN M x\\\r\ny", "12 ab xy");
}

static void test_defines_of_options(void **state) {
    (void)state;
    run r;
    start(&r);
    const char *defines[] = {"A", "B=x y", "F(x)=x+1", "EMPTY="};
    r.options.defines = defines;
    r.options.n_defines = 4;
    preprocess(&r, "f.c", "A B F(2) [EMPTY]");
    assert_string_equal(messages(&r), "");
    assert_string_equal(spell(&r), "1 x y 2 + 1 [ ]");
    rg_arena_free(r.arena);
}

/* A macro's expansion is where the macro is used; its arguments are where they stand. */
static void test_locations(void **state) {
    (void)state;
    run r;
    start(&r);
    preprocess(&r, "f.c", "#define F(x) (x * 2)\n  F(a\n +b) c\\\nd e\n/* */ g");
    static const char *const want[] = {"f.c:2:3", "f.c:2:5", "f.c:3:2", "f.c:3:3", "f.c:2:3",
                                       "f.c:2:3", "f.c:2:3", "f.c:3:6", "f.c:4:3", "f.c:5:7"};
    assert_int_equal(r.tokens->list.n, 11);
    for (uint32_t i = 0; i < 10; i++)
        assert_string_equal(rg_sources_where(r.sources, r.arena, r.tokens->list.at[i].loc),
                            want[i]);
    rg_arena_free(r.arena);
}

static void test_interning(void **state) {
    (void)state;
    run r;
    start(&r);
    preprocess(&r, "f.c", "#define cat(a, b) a##b\nfoo += cat(fo, o) += foo");
    const rg_token *t = r.tokens->list.at;
    assert_ptr_equal(t[0].text, t[2].text);
    assert_ptr_equal(t[0].text, t[4].text);
    assert_ptr_equal(t[1].text, t[3].text);
    rg_arena_free(r.arena);
}

/* ---- Conditionals ---- */

static void expect_condition(const char *condition, bool holds) {
    run r;
    start(&r);
    preprocess(&r, "f.c",
               rg_format(r.arena,
                         "#define ONE 1\n#define ID(x) x\n#define HAS defined(ONE)\n"
                         "#if %s\nyes\n#else\nno\n#endif\n",
                         condition));
    assert_string_equal(messages(&r), "");
    assert_string_equal(spell(&r), holds ? "yes" : "no");
    rg_arena_free(r.arena);
}

static void test_conditions(void **state) {
    (void)state;
    static const char *const hold[] = {
        "1",
        "ONE == ID(1)",
        "defined ONE && defined(ID) && !defined TWO && HAS",
        "UNKNOWN == 0",
        "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9",
        "10 - 4 - 3 == 3 && 100 / 10 / 2 == 5 && 17 % 5 == 2",
        "-1 < 0 && -1 > 0u && (0 ? 0u : -1) > 0",
        "1 << 62 == 0x4000000000000000 && -8 >> 1 == -4 && -5 / 2 == -2 && -5 % 2 == -1",
        "0xffffffffffffffff == -1",
        "0x7fffffffffffffff + 1 < 0",
        "4294967295 + 1 == 4294967296",
        "1 || 1 / 0",
        "!(0 && 1 % 0) && (1 ? 2 : 1 / 0) == 2",
        "(2 | 1) == 3 && (6 & 3) == 2 && (6 ^ 3) == 5 && ~0 == -1",
        "'a' == 97 && '\\n' == 10 && '\\377' < 0 && '\\x41' == 65",
        "1 ? 0 ? 0 : 1 : 0",
        "(-9223372036854775807 - 1) / -1 < 0",
        "1 <= 1 && 2 >= 1 && 1 != 2 && !(1 > 2)",
        "__STDC_VERSION__ >= 199901L && __LINE__ == 4",
        "+1 /* a comment */ == 1",
    };
    for (size_t i = 0; i < sizeof hold / sizeof hold[0]; i++) {
        expect_condition(hold[i], true);
        run r;
        start(&r);
        expect_condition(rg_format(r.arena, "!(%s)", hold[i]), false);
        rg_arena_free(r.arena);
    }
}

static void test_groups(void **state) {
    (void)state;
    expect("#if 0\na\n#elif 1\nb\n#elif 1 / 0\nc\n#else\nd\n#endif\ne", "b e");
    expect("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 0\nc\n#else\nd\n#endif", "d");
    expect("#if 1\nx\n#else\ndon't /* \" */ \"/*\n#bogus\n# 'x\n#endif\n#if 1\n#elif nonsense "
           "(\n#endif",
           "x");
    expect("#ifdef X\na\n#endif\n#ifndef X\nb\n#endif\n#define X\n#ifdef X\nc\n#endif", "b c");
    expect("#define f(x) [x]\nf\n#if 0\n#else\n(1\n#ifdef f\n+ 2\n#endif\n)\n#endif", "[ 1 + 2 ]");
    expect("#\n# /* null */\nx", "x");
}

/* ---- Files ---- */

static void test_includes(void **state) {
    (void)state;
    run r;
    start(&r);
    const char *dirs[] = {"inc"};
    r.options.include_dirs = dirs;
    r.options.n_include_dirs = 1;
    r.files[0] = (virtual_file){"src/a.h", "#pragma once\n#include \"sub/b.h\"\na __FILE__\n"};
    r.files[1] =
        (virtual_file){"src/sub/b.h", "#include \"../a.h\"\n#include \"c.h\"\nb __LINE__\n"};
    r.files[2] = (virtual_file){"inc/c.h", "c __FILE__\n#define NAME <c.h>\n"};
    preprocess(&r, "src/m.c",
               "#include \"a.h\"\n#include \"./a.h\"\n#include NAME\n__FILE__ __LINE__\n");
    assert_string_equal(messages(&r), "");
    assert_string_equal(spell(&r), "c \"inc/c.h\" b 3 a \"src/a.h\" c \"inc/c.h\" \"src/m.c\" 4");
    const rg_token *t = r.tokens->list.at;
    assert_string_equal(rg_sources_where(r.sources, r.arena, t[0].loc), "inc/c.h:1:1");
    assert_string_equal(rg_sources_where(r.sources, r.arena, t[4].loc), "src/a.h:3:1");
    rg_arena_free(r.arena);
}

static void test_include_limits(void **state) {
    (void)state;
    run r;
    start(&r);
    r.files[0] = (virtual_file){"f.h", "#include \"f.h\"\n#include \"f.h\"\n"};
    preprocess(&r, "f.c", "a\n#include \"f.h\"\n");
    assert_int_equal(r.diags.list.n, 1);
    assert_string_equal(r.diags.list.at[0].message, "#include is nested more than 64 deep");
    assert_string_equal(spell(&r), "a");
    rg_arena_free(r.arena);
}

static void test_builtin_headers(void **state) {
    (void)state;
    expect("#include <stdbool.h>\nbool true false", "_Bool 1 0");
    expect("#include <omp.h>\n#include \"limits.h\"\nINT_MAX UINT_MAX LONG_MAX",
           "2147483647 4294967295U 9223372036854775807L");
    expect("#include <float.h>\nDBL_EPSILON FLT_MAX", "0x1p-52 0x1.fffffep127f");
    expect("#include \"retrograd_kernel.h\"\n#include <rg_half.h>\nrg_half rg_stop",
           "_Float16 rg_stop");
    expect(
        "#include <tgmath.h>\n__RETROGRAD_TGMATH__ INFINITY NAN HUGE_VAL",
        "typedef float float_t ; typedef double double_t ; $[retrograd math] $[retrograd tgmath] "
        "1 __rg_inf "
        "__rg_nan ( ( double ) __rg_inf )");
    expect("#include <stddef.h>\nNULL",
           "typedef unsigned long size_t ; typedef long ptrdiff_t ; typedef int wchar_t ; ( ( void "
           "* ) 0 )");
    run r;
    start(&r);
    preprocess(&r, "f.c", "#include <stdint.h>\nINT64_C(5) UINT32_MAX");
    const rg_token *t = &r.tokens->list.at[r.tokens->list.n - 3];
    assert_true(t[0].i == 5 && t[0].is_long && !t[0].is_unsigned);
    assert_true(t[1].i == UINT32_MAX && !t[1].is_long && t[1].is_unsigned);
    assert_string_equal(r.tokens->list.at[0].text, "typedef");
    assert_string_equal(rg_sources_where(r.sources, r.arena, r.tokens->list.at[0].loc),
                        "<stdint.h>:2:1");
    rg_arena_free(r.arena);
}

static void test_line_markers(void **state) {
    (void)state;
    expect("#line 7\n__LINE__ __FILE__\n#line 9 \"g.c\"\n__LINE__ __FILE__", "7 \"f.c\" 9 \"g.c\"");
    expect("#define N 30\n#line N\n__LINE__", "30");
    run r;
    start(&r);
    r.files[0] = (virtual_file){"k.c", "one\ntwo\n  three\n"};
    r.options.already_preprocessed = true;
    preprocess(&r, "k.i",
               "# 1 \"k.c\"\n# 1 \"<built-in>\" 1\n# 3 \"k.c\" 2\n  @ __LINE__\n#pragma omp x\n");
    assert_string_equal(spell(&r), "__LINE__ $[omp x]");
    assert_string_equal(messages(&r), "k.c:3:3: error: stray '@'\n      three\n      ^\n"
                                      "    way out: C has no use for this character\n");
    rg_arena_free(r.arena);
}

static void test_pragmas(void **state) {
    (void)state;
    expect("#define N 4\n#define P _Pragma(\"omp parallel for collapse(N)\") for\n"
           "#pragma omp parallel for num_threads(N)\nP (;;)\n"
           "#pragma retrograd checkpoint(N)\n#pragma GCC unroll N @ 1x\n#pragma STDC FP_CONTRACT "
           "OFF\n#pragma\n",
           "$[omp parallel for num_threads ( 4 )] $[omp parallel for collapse ( 4 )] for ( ; ; ) "
           "$[retrograd checkpoint ( 4 )] $[GCC unroll N @ 1x] $[STDC FP_CONTRACT OFF] $[]");
    expect("#define f(x) x\na f\n#pragma omp x\n(1)", "a f $[omp x] ( 1 )");
    expect("#define DO(x) _Pragma(#x)\nDO(omp atomic \"q\\\\\") x", "$[omp atomic \"q\\\"] x");
    expect("#define ID(x) x\nID(_Pragma(\"omp simd\") a)", "$[omp simd] a");
}

/* ---- Constants ---- */

static void expect_int(const char *text, uint64_t value, const char *type) {
    run r;
    start(&r);
    preprocess(&r, "f.c", text);
    const rg_token *t = r.tokens->list.at;
    assert_string_equal(messages(&r), "");
    assert_int_equal(t->kind, RG_TOK_INT);
    assert_true(t->i == value);
    assert_string_equal(type, t->is_unsigned ? t->is_long ? "ul" : "u" : t->is_long ? "l" : "i");
    rg_arena_free(r.arena);
}

static void expect_float(const char *text, double value, bool is_float) {
    run r;
    start(&r);
    preprocess(&r, "f.c", text);
    const rg_token *t = r.tokens->list.at;
    assert_string_equal(messages(&r), "");
    assert_int_equal(t->kind, RG_TOK_FLOAT);
    assert_memory_equal(&t->f, &value, sizeof value);
    assert_int_equal(t->is_float, is_float);
    rg_arena_free(r.arena);
}

static void test_integers(void **state) {
    (void)state;
    expect_int("0", 0, "i");
    expect_int("2147483647", 2147483647, "i");
    expect_int("2147483648", 2147483648, "l");
    expect_int("0x7fffffff", 0x7fffffff, "i");
    expect_int("0x80000000", 0x80000000, "u");
    expect_int("0xffffffff", 0xffffffff, "u");
    expect_int("0x100000000", 0x100000000, "l");
    expect_int("0x8000000000000000", 0x8000000000000000, "ul");
    expect_int("037777777777", 0xffffffff, "u");
    expect_int("0b101", 5, "i");
    expect_int("9223372036854775807", INT64_MAX, "l");
    expect_int("18446744073709551615u", UINT64_MAX, "ul");
    expect_int("1u", 1, "u");
    expect_int("4294967296U", 4294967296, "ul");
    expect_int("1L", 1, "l");
    expect_int("0x80000000L", 0x80000000, "l");
    expect_int("1ll", 1, "l");
    expect_int("1ULL", 1, "ul");
    expect_int("1LLu", 1, "ul");
    expect_int("0xfffffffffffffffFl", UINT64_MAX, "ul");
}

static void test_floats(void **state) {
    (void)state;
    expect_float("1.5", 1.5, false);
    expect_float(".5f", 0.5, true);
    expect_float("1.", 1, false);
    expect_float("1e3", 1000, false);
    expect_float("1.25E-2F", (double)1.25e-2f, true);
    expect_float("0.1", 0.1, false);
    expect_float("0.1f", (double)0.1f, true);
    expect_float("123456789.987654321e-5", 123456789.987654321e-5, false);
    expect_float("0x1.8p1", 3, false);
    expect_float("0x.8p0f", 0.5, true);
    expect_float("0X1P-1074", 0x1p-1074, false);
    expect_float("1e-400", 0, false);
    expect_float("0e999999999999", 0, false);
    expect_float("089.5", 89.5, false);
    /* Just above the middle of two floats, and nearer to that than double can tell. */
    expect_float("1.00000005960464477540f", (double)1.00000005960464477540f, true);
}

static void test_characters(void **state) {
    (void)state;
    expect_int("'a'", 'a', "i");
    expect_int("'\\0'", 0, "i");
    expect_int("'\\\\'", '\\', "i");
    expect_int("'\\''", '\'', "i");
    expect_int("'\"'", '"', "i");
    expect_int("'\\xff'", (uint64_t)-1, "i");
    expect_int("'\\101'", 65, "i");
    expect_int("L'\\u00e9'", 0xe9, "i");
    expect_int("L'\xc3\xa9'", 0xe9, "i");
    expect_int("U'\\xffffffff'", 0xffffffff, "u");
}

/* ---- Errors ---- */

static void test_error_texts(void **state) {
    (void)state;
    expect_messages("int a;\n  @\n", "f.c:2:3: error: stray '@'\n      @\n      ^\n"
                                     "    way out: C has no use for this character\n");
    expect_messages("#include <vulkan.h>\n",
                    "f.c:1:10: error: cannot find header <vulkan.h>\n"
                    "    #include <vulkan.h>\n             ^\n"
                    "    way out: the built-in headers are <float.h> <limits.h> <math.h> <omp.h> "
                    "<stdbool.h> <stddef.h> <stdint.h> <stdlib.h> <tgmath.h> <retrograd_kernel.h> "
                    "<rg_half.h>; others are looked for in the include folders\n");
    expect_messages("#define F(a, b) a\nF(1)\n",
                    "f.c:2:1: error: macro 'F' takes 2 arguments, but is given 1\n"
                    "    F(1)\n    ^\n"
                    "f.c:1:9: note: 'F' is defined here\n"
                    "    #define F(a, b) a\n            ^\n");
    expect_messages("#define A 1\n#define A 2\n",
                    "f.c:2:9: warning: macro 'A' is redefined\n    #define A 2\n            ^\n"
                    "    way out: use #undef first\n"
                    "f.c:1:9: note: the definition before is here\n"
                    "    #define A 1\n            ^\n");
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *message, *hint;
    } cases[] = {
        {"a /* b", 1, 3, "this comment never ends", "close it with */"},
        {"x\n \"abc\ny", 2, 2, "this string never ends", "close it with \" on the same line"},
        {"'a\n", 1, 1, "this character constant never ends", "close it with ' on the same line"},
        {"''", 1, 1, "this character constant is empty", "write '\\0' for the character zero"},
        {"'ab'", 1, 1, "character constant 'ab' has more than one character", NULL},
        {"'\\q'", 1, 1, "unknown escape sequence after \\", NULL},
        {"\xc3\xa9", 1, 1, "'\xc3\xa9' outside comments and strings", NULL},
        {"1f", 1, 1, "'1f' is neither an integer nor a float",
         "a floating constant needs a point or an exponent, as in 1.0f"},
        {"12ab", 1, 1, "malformed number '12ab'", NULL},
        {"1.2.3", 1, 1, "'.3' is not a suffix of a floating constant in '1.2.3'", NULL},
        {"1e+", 1, 1, "the exponent of '1e+' has no digits", NULL},
        {"089", 1, 1, "'8' is not an octal digit, in '089'",
         "a number that begins with 0 is octal: drop the zero"},
        {"0x", 1, 1, "malformed number '0x'", NULL},
        {"0x1.8", 1, 1, "hexadecimal floating constant '0x1.8' has no exponent", NULL},
        {"1.0L", 1, 1, "long double constants are not supported: no GPU has the type", NULL},
        {"1e400", 1, 1, "'1e400' is too large for a double", NULL},
        {"1e39f", 1, 1, "'1e39f' is too large for a float", NULL},
        {"18446744073709551616", 1, 1,
         "integer constant '18446744073709551616' is too large for 64 bits", NULL},
        {"9223372036854775808", 1, 1,
         "integer constant '9223372036854775808' is too large for a signed 64-bit type",
         "add the suffix u if it is meant to be unsigned"},
        {"#if 1\n", 1, 2, "this #if has no #endif", "end it with #endif"},
        {"#endif", 1, 2, "#endif without #if", NULL},
        {"#if 1\n#else\n#else\n#endif", 3, 2, "#else after #else", NULL},
        {"#if\n#endif", 1, 2, "#if without a condition", NULL},
        {"#if 1 +\n#endif", 1, 7, "#if ends where a value is missing", NULL},
        {"#if (1\n#endif", 1, 5, "missing ')' in #if", NULL},
        {"#if 1 / 0\n#endif", 1, 7, "division by zero in #if", NULL},
        {"#if 1.5\n#endif", 1, 5, "floating constant in #if", NULL},
        {"#if F(1)\n#endif", 1, 5, "'F' is called in #if, but is not a macro", NULL},
        {"#if 1 2\n#endif", 1, 7, "'2' comes after the end of the condition in #if", NULL},
        {"#if 1 == \"a\"\n#endif", 1, 10, "'\"a\"' where a value is missing in #if", NULL},
        {"#if defined\n#endif", 1, 5, "'defined' needs the name of a macro", NULL},
        {"#ifdef 1\n#endif", 1, 8, "#ifdef needs the name of a macro", NULL},
        {"#error don't do  this", 1, 2, "#error don't do  this", NULL},
        {"#warning careful", 1, 2, "#warning careful", NULL},
        {"#bogus", 1, 2, "unknown directive #bogus", NULL},
        {"#include\n", 1, 2, "#include needs a header's name", NULL},
        {"#include <stdio.h>\n", 1, 10, "header <stdio.h> is not available in kernels",
         "put what only the C compiler needs between #ifndef __RETROGRAD__ and #endif"},
        {"#define\n", 1, 2, "#define needs the name of a macro", NULL},
        {"#define defined 1\n", 1, 9, "#define cannot change 'defined'", NULL},
        {"#undef __LINE__\n", 1, 8, "#undef cannot change '__LINE__'", NULL},
        {"#define F(a, a) a\n", 1, 14, "two parameters are called 'a'", NULL},
        {"#define F(a b) a\n", 1, 13, "malformed parameters of macro 'F'", NULL},
        {"#define F(a\n", 1, 11, "malformed parameters of macro 'F'", NULL},
        {"#define F(a) #b\n", 1, 14, "# is not followed by a parameter of macro 'F'", NULL},
        {"#define F ## b\n", 1, 11, "## at the beginning of macro 'F'", NULL},
        {"#define F(a) a ##\n", 1, 16, "## at the end of macro 'F'", NULL},
        {"#define F() __VA_ARGS__\n", 1, 13, "__VA_ARGS__ in a macro that is not variadic", NULL},
        {"#define F(a, b) a ## b\nF(+, x)", 2, 1, "pasting '+' and 'x' does not give a token",
         NULL},
        {"#define F(a) a\nF(1", 2, 1, "the call of macro 'F' never ends", NULL},
        {"#define F(a) a\nF(F(1) F(2)\n", 2, 1, "the call of macro 'F' never ends", NULL},
        {"#define F(a) a\nF(\n#pragma omp x\n1)", 3, 2, "#pragma inside the arguments of a macro",
         "use _Pragma(\"...\")"},
        {"_Pragma(omp)", 1, 1, "_Pragma needs one string in parentheses", NULL},
        {"#line x", 1, 2, "malformed line number", NULL},
        {"#endif x", 1, 2, "#endif without #if", NULL},
        {"#if 1\n#endif x", 2, 8, "text after the end of #endif is ignored", NULL},
        {"a \\ b", 1, 3, "stray '\\'", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_report(cases[i].text, cases[i].line, cases[i].col, cases[i].message, cases[i].hint);
}

static void test_nul_byte(void **state) {
    (void)state;
    run r;
    start(&r);
    int thrown = RG_GUARD(r.arena);
    if (!thrown)
        r.tokens = rg_preprocess(r.arena, r.sources, &r.diags, "f.c", "a\nb\0c", 5, NULL);
    assert_int_equal(thrown, RG_THROW_ERRORS);
    assert_int_equal(r.diags.errors, 1);
    assert_string_equal(rg_sources_where(r.sources, r.arena, r.diags.list.at[0].loc), "f.c:2:2");
    rg_arena_free(r.arena);
}

/* ---- Limits ---- */

static char *repeat(rg_arena *a, const char *piece, int n) {
    rg_text t = {.arena = a};
    for (int i = 0; i < n; i++)
        rg_text_add(&t, piece);
    return t.at;
}

static void test_limits(void **state) {
    (void)state;
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    if (RG_GUARD(a)) {
        fail();
        return;
    }
    rg_text laugh = {.arena = a};
    rg_text_add(&laugh, "#define a0\n");
    for (int i = 1; i < 60; i++)
        rg_text_format(&laugh, "#define a%d a%d a%d\n", i, i - 1, i - 1);
    rg_text_add(&laugh, "a59\n");
    expect_report(rg_text_str(&laugh), 61, 1, "macro expansion passes its limit of 4194304 tokens",
                  NULL);
    expect_report(
        rg_format(a, "#define f(x) x\n%s1%s", repeat(a, "f(", 1000), repeat(a, ")", 1000)), 2, 401,
        "macro calls are nested more than 200 deep", NULL);
    expect_report(rg_format(a, "#if %s\n#endif", repeat(a, "(", 100000)), 1, 205,
                  "the expression is nested too deeply", NULL);
    expect_report(rg_format(a, "#if %s1\n#endif", repeat(a, "!", 100000)), 1, 205,
                  "the expression is nested too deeply", NULL);
    rg_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_examples),
        cmocka_unit_test(test_macros),
        cmocka_unit_test(test_defines_of_options),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_interning),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_include_limits),
        cmocka_unit_test(test_builtin_headers),
        cmocka_unit_test(test_line_markers),
        cmocka_unit_test(test_pragmas),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_error_texts),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_nul_byte),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
