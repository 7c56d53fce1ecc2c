/* The .npy reader against good files and every kind of damage, and the VALUE syntax. Links
 * src/cli/{npy,values,dtype,util}.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../src/cli/dtype.h"
#include "../../src/cli/npy.h"
#include "../../src/cli/util.h"
#include "../../src/cli/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bytes {
    unsigned char at[4096];
    size_t n;
} bytes;

/* A file of the given version with this header text and n_data bytes of data (0, 1, 2 ...). */
static bytes file(int version, const char *header, size_t n_data) {
    bytes b = {{0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0}, 8};
    size_t n = strlen(header);
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        b.at[b.n++] = (unsigned char)(n >> (8 * i));
    memcpy(b.at + b.n, header, n);
    b.n += n;
    for (size_t i = 0; i < n_data; i++)
        b.at[b.n++] = (unsigned char)i;
    return b;
}

static const char *refusal(bytes b) {
    static char error[256];
    rg_npy a;
    error[0] = 0;
    /* An exact copy, so that a sanitizer sees the smallest overrun. */
    unsigned char *copy = malloc(b.n ? b.n : 1);
    memcpy(copy, b.at, b.n);
    bool ok = rg_npy_parse(copy, b.n, &a, error, sizeof error);
    free(copy);
    if (ok) {
        rg_npy_free(&a);
        return NULL;
    }
    assert_null(a.data);
    return error;
}

static void refused(bytes b, const char *part) {
    const char *why = refusal(b);
    assert_non_null(why);
    if (!strstr(why, part))
        fail_msg("'%s' does not say '%s'", why, part);
}

static void versions(void **state) {
    (void)state;
    for (int v = 1; v <= 3; v++) {
        rg_npy a;
        char error[256];
        bytes b = file(v, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n", 24);
        assert_true(rg_npy_parse(b.at, b.n, &a, error, sizeof error));
        assert_int_equal(a.dtype, RG_DTYPE_F32);
        assert_int_equal(a.rank, 2);
        assert_int_equal(a.shape[0], 2);
        assert_int_equal(a.shape[1], 3);
        assert_int_equal(a.count, 6);
        assert_int_equal(((unsigned char *)a.data)[23], 23);
        rg_npy_free(&a);
    }
    refused(file(4, "{}", 0), "version 4");
    refused(file(0, "{}", 0), "version 0");
}

static void shapes(void **state) {
    (void)state;
    assert_null(refusal(file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': ()}", 2)));
    assert_null(refusal(file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3,)}", 6)));
    assert_null(refusal(file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3L,)}", 6)));
    assert_null(refusal(file(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (0, 9)}", 0)));
    assert_null(refusal(file(1, "{\"shape\":(1,1),\"descr\":\"|u1\",\"fortran_order\":False}", 1)));
    /* Zero elements whatever the other extents: no overflow. */
    assert_null(refusal(file(
        1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 0, 8)}", 0)));
    refused(
        file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 8)}", 0),
        "too large");
    refused(file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,)}", 0),
            "too large");
    refused(
        file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", 0),
        "too large");
    refused(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,)}", 8),
            "cut short");
    refused(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1)}", 1),
            "axes");
    refused(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}", 1), "sizes");
    refused(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': 3}", 3), "tuple");
    refused(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3", 3), "closed");
}

static void types(void **state) {
    static const struct {
        const char *descr;
        rg_dtype dtype;
    } good[] = {{"|b1", RG_DTYPE_BOOL}, {"|i1", RG_DTYPE_I8},  {"<u1", RG_DTYPE_U8},
                {"<i2", RG_DTYPE_I16},  {"<u2", RG_DTYPE_U16}, {"<i4", RG_DTYPE_I32},
                {"<u4", RG_DTYPE_U32},  {"<i8", RG_DTYPE_I64}, {"<u8", RG_DTYPE_U64},
                {"<f2", RG_DTYPE_F16},  {"<f4", RG_DTYPE_F32}, {"<f8", RG_DTYPE_F64}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char header[128], error[256];
        rg_npy a;
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}",
                 good[i].descr);
        bytes b = file(1, header, rg_cli_dtype_size(good[i].dtype));
        assert_true(rg_npy_parse(b.at, b.n, &a, error, sizeof error));
        assert_int_equal(a.dtype, good[i].dtype);
        rg_npy_free(&a);
    }
    refused(file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4), "big-endian");
    refused(file(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8), "objects");
    refused(file(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8), "none that");
    refused(file(1, "{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}", 16), "none that");
    refused(file(1, "{'descr': '', 'fortran_order': False, 'shape': (1,)}", 4), "none that");
    refused(file(1, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4),
            "structured");
    bytes b = file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", 3);
    refused(b, "no bool");
    refused(file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,2)}", 16), "Fortran");
}

static void damage(void **state) {
    (void)state;
    bytes none = {{0}, 0};
    refused(none, "no .npy");
    bytes b = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
    for (size_t n = 0; n < b.n; n++) { /* cut anywhere: refused, never read past the end */
        bytes c = b;
        c.n = n;
        assert_non_null(refusal(c));
    }
    for (size_t i = 0; i < b.n - 8; i++) { /* any byte of the head changed: no crash */
        bytes c = b;
        for (int v = 0; v < 256; v += 5) {
            c.at[i] = (unsigned char)v;
            refusal(c);
        }
    }
    b.at[b.n++] = 0;
    refused(b, "8 bytes, 9 are there");
    refused(file(1, "", 0), "dictionary");
    refused(file(1, "garbage", 0), "dictionary");
    refused(file(1, "{'descr': '<f4'", 0), "closed");
    refused(file(1, "{'descr' '<f4'}", 0), "no value");
    refused(file(1, "{'descr': '<f4', 'shape': (1,)}", 4), "'fortran_order' is missing");
    refused(file(1, "{'fortran_order': False, 'shape': (1,)}", 4), "'descr' is missing");
    refused(file(1, "{'descr': '<f4', 'fortran_order': False}", 4), "'shape' is missing");
    refused(file(1, "{'descr': '<f4', 'descr': '<f4'}", 4), "twice");
    refused(file(1, "{'other': 1}", 4), "unknown");
    refused(file(1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4), "neither");
    refused(file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4), "follows");
    refused(file(1, "{'descr': 'a very long type name indeed'}", 4), "odd");
}

static void round_trip(void **state) {
    char path[] = "/tmp/test_npy_XXXXXX", error[256];
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    float data[6] = {1.5f, -0.0f, 3e-45f, INFINITY, 0.1f, 7};
    int64_t shape[2] = {2, 3};
    rg_npy a;
    assert_true(rg_npy_write(path, RG_DTYPE_F32, 2, shape, data, error, sizeof error));
    assert_true(rg_npy_read(path, &a, error, sizeof error));
    assert_int_equal(a.rank, 2);
    assert_memory_equal(a.data, data, sizeof data);
    rg_npy_free(&a);
    int64_t zero[1] = {0};
    assert_true(rg_npy_write(path, RG_DTYPE_I64, 1, zero, data, error, sizeof error));
    assert_true(rg_npy_read(path, &a, error, sizeof error));
    assert_int_equal(a.count, 0);
    rg_npy_free(&a);
    unlink(path);
    assert_false(rg_npy_read(path, &a, error, sizeof error));
    assert_non_null(strstr(error, "No such file"));
    assert_false(rg_npy_read("/", &a, error, sizeof error));
    assert_false(
        rg_npy_write("/no/such/dir.npy", RG_DTYPE_F32, 2, shape, data, error, sizeof error));
}

static void halves(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) { /* every half goes through double and back */
        uint16_t in = (uint16_t)h, out = 0;
        double v = rg_cli_scalar_get(RG_DTYPE_F16, &in);
        if (isnan(v))
            continue;
        rg_cli_scalar_set(RG_DTYPE_F16, &out, v);
        assert_int_equal(in, out);
    }
    static const struct {
        double v;
        uint16_t h;
    } rounds[] = {{65519, 0x7bff}, {65520, 0x7c00}, {2049, 0x6800},
                  {2051, 0x6802},  {0x1p-25, 0},    {0x1.8p-25, 1}};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        uint16_t out = 0;
        rg_cli_scalar_set(RG_DTYPE_F16, &out, rounds[i].v);
        assert_int_equal(out, rounds[i].h);
    }
}

static void scalars(void **state) {
    unsigned char b[8];
    char text[RG_CLI_SCALAR_TEXT];
    (void)state;
    assert_null(rg_cli_scalar_parse(RG_DTYPE_I8, "-128", b));
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_I8, "128", b));
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_U8, "-1", b));
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_I32, "1.5", b));
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_I32, "", b));
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_I32, "-", b));
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_I64, "9223372036854775808", b));
    assert_null(rg_cli_scalar_parse(RG_DTYPE_U64, "18446744073709551615", b));
    rg_cli_scalar_print(RG_DTYPE_U64, b, text);
    assert_string_equal(text, "18446744073709551615");
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_U64, "18446744073709551616", b));
    assert_null(rg_cli_scalar_parse(RG_DTYPE_F32, "0.1", b));
    rg_cli_scalar_print(RG_DTYPE_F32, b, text);
    assert_string_equal(text, "0.1");
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_F32, "1e39", b));
    assert_null(rg_cli_scalar_parse(RG_DTYPE_F64, "-inf", b));
    rg_cli_scalar_print(RG_DTYPE_F64, b, text);
    assert_string_equal(text, "-inf");
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_F64, "1e309", b));
    assert_null(rg_cli_scalar_parse(RG_DTYPE_BOOL, "true", b));
    assert_int_equal(b[0], 1);
    assert_non_null(rg_cli_scalar_parse(RG_DTYPE_BOOL, "2", b));
    rg_cli_rng r = {1};
    for (int i = 0; i < 1000; i++) { /* printed digits read back to the same bits */
        uint32_t bits = (uint32_t)rg_cli_rng_next(&r);
        float f, back;
        memcpy(&f, &bits, sizeof f);
        if (isnan(f))
            continue;
        rg_cli_scalar_print(RG_DTYPE_F32, &f, text);
        back = strtof(text, NULL);
        assert_memory_equal(&f, &back, sizeof f);
    }
}

static void values(void **state) {
    rg_cli_value v;
    (void)state;
    assert_null(rg_cli_value_parse("3", &v));
    assert_int_equal(v.kind, RG_VALUE_NUMBER);
    assert_null(rg_cli_value_parse("-1e-3", &v));
    assert_null(rg_cli_value_parse("1,2.5,3", &v));
    assert_int_equal(v.kind, RG_VALUE_LIST);
    assert_int_equal(v.n_numbers, 3);
    assert_null(rg_cli_value_parse("rand:7:1024x3", &v));
    assert_int_equal(v.seed, 7);
    assert_int_equal(v.rank, 2);
    assert_int_equal(v.shape[0], 1024);
    assert_null(rg_cli_value_parse("iota:5", &v));
    assert_int_equal(v.shape[0], 5);
    assert_null(rg_cli_value_parse("full:2.5:3x4", &v));
    assert_string_equal(v.numbers[0], "2.5");
    assert_int_equal(v.shape[1], 4);
    assert_null(rg_cli_value_parse("rand:4x3", &v));
    assert_false(v.has_seed);
    assert_true(v.has_shape);
    assert_null(rg_cli_value_parse("rand::9", &v));
    assert_int_equal(v.shape[0], 9);
    assert_null(rg_cli_value_parse("dir/a.npy", &v));
    assert_int_equal(v.kind, RG_VALUE_NPY);
    static const char *const bad[] = {"",         "zeroes",
                                      "full",     "full:x",
                                      "rand:",    "rand:-1",
                                      "iota:x",   "a.txt",
                                      "1,,2",     "ones:3:4",
                                      "iota:3x",  "rand:1:2:3",
                                      "randn:x3", "ones:99999999999999999999",
                                      "nonsense"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(rg_cli_value_parse(bad[i], &v));
    assert_non_null(strstr(rg_cli_value_parse("zeroes", &v), "did you mean 'zeros'"));
}

static void filling(void **state) {
    rg_cli_value v;
    (void)state;
    rg_field_info one = {.dtype = RG_DTYPE_F32};
    rg_cli_layout plain = {4, 1, &one, RG_DTYPE_F32};
    float x[4] = {0}, y[4] = {0};
    assert_null(rg_cli_value_parse("iota", &v));
    assert_null(rg_cli_value_fill(&v, &plain, 4, "x", false, x));
    assert_true(x[0] == 0 && x[3] == 3);
    assert_null(rg_cli_value_parse("rand", &v));
    assert_null(rg_cli_value_fill(&v, &plain, 4, "x", false, x));
    assert_null(rg_cli_value_fill(&v, &plain, 4, "y", false, y));
    assert_memory_not_equal(x, y, sizeof x); /* each name has its own numbers */
    assert_null(rg_cli_value_parse("rand:3", &v));
    assert_null(rg_cli_value_fill(&v, &plain, 4, "x", false, x));
    assert_null(rg_cli_value_fill(&v, &plain, 4, "y", false, y));
    assert_memory_equal(x, y, sizeof x); /* a seed has its own numbers */
    assert_null(rg_cli_value_parse("1,2,3", &v));
    assert_non_null(rg_cli_value_fill(&v, &plain, 4, "x", false, x));
    /* A struct of a float and a short: generators fill both; gradients only the float. */
    rg_field_info two[2] = {{.dtype = RG_DTYPE_F32, .offset = 0},
                            {.dtype = RG_DTYPE_I16, .offset = 4}};
    rg_cli_layout mixed = {8, 2, two, RG_DTYPE_STRUCT};
    unsigned char items[16] = {0};
    assert_null(rg_cli_value_parse("ones", &v));
    assert_null(rg_cli_value_fill(&v, &mixed, 2, "s", false, items));
    assert_int_equal(rg_cli_scalar_get_int(RG_DTYPE_I16, items + 12), 1);
    memset(items, 0, sizeof items);
    assert_null(rg_cli_value_fill(&v, &mixed, 2, "s", true, items));
    assert_int_equal(rg_cli_scalar_get_int(RG_DTYPE_I16, items + 12), 0);
    assert_true(rg_cli_scalar_get(RG_DTYPE_F32, items + 8) == 1);
    /* iota past a small type's range is an error, not a wrap. */
    rg_field_info small = {.dtype = RG_DTYPE_I8};
    rg_cli_layout narrow = {1, 1, &small, RG_DTYPE_I8};
    unsigned char many[200];
    assert_null(rg_cli_value_parse("iota", &v));
    assert_non_null(rg_cli_value_fill(&v, &narrow, 200, "b", false, many));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions), cmocka_unit_test(shapes),     cmocka_unit_test(types),
        cmocka_unit_test(damage),   cmocka_unit_test(round_trip), cmocka_unit_test(halves),
        cmocka_unit_test(scalars),  cmocka_unit_test(values),     cmocka_unit_test(filling),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rg_cli_free_all();
    return failed;
}
