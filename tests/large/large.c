/* Arrays of more than 2^31 elements on the cpu device: right values, right gradients, and a message
 * where there is not enough memory. Takes some 14 GB at its peak and a minute; `make test-large`.
 *
 * The large array holds bytes and carries no gradient; what does is small. Marks stand around the
 * places where 32-bit indices of any kind would wrap: 2^31, 2^32 and the last element. */
#include "retrograd.h"

#include <stdio.h>
#include <stdlib.h>

static const char text[] =
    "#include <stdint.h>\n"
    /* one axis, counted in long */
    "void flat(long n, const int8_t d[n], const double w[4], double s[4]) {\n"
    "#pragma omp parallel for\n"
    "    for (int k = 0; k < 4; k++) {\n"
    "        double sum = 0;\n"
    "        for (long i = k; i < n; i += 4)\n"
    "            sum += w[k] * w[k] * d[i];\n"
    "        s[k] += sum;\n"
    "    }\n"
    "}\n"
    /* a parallel loop of more than 2^31 iterations */
    "void wide(long n, const int8_t d[n], const double w[1], double s[1]) {\n"
    "    double sum = 0;\n"
    "#pragma omp parallel for reduction(+: sum)\n"
    "    for (long i = 0; i < n; i++)\n"
    "        sum += w[0] * d[i];\n"
    "    s[0] = sum * sum;\n"
    "}\n"
    /* two axes, counted in int: only their product is large */
    "void table(int n, int m, const int8_t d[n][m], const double w[8], double s[n]) {\n"
    "#pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        double sum = 0;\n"
    "        for (int j = 0; j < m; j++)\n"
    "            sum += w[j & 7] * d[i][j];\n"
    "        s[i] = sum;\n"
    "    }\n"
    "}\n"
    /* written, and read by the adjoint as it was before: the record keeps a copy */
    "void drain(int n, int m, int8_t d[n][m], const double w[8], double s[n]) {\n"
    "#pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++)\n"
    "        for (int j = 0; j < m; j++) {\n"
    "            s[i] += w[j & 7] * d[i][j];\n"
    "            d[i][j] = (int8_t)((i * 7 + j) & 127);\n"
    "        }\n"
    "}\n";

static rg_context *ctx;
static rg_device *dev;
static int passed, failed;

static void must(rg_status s, const char *what) {
    if (s == RG_OK)
        return;
    printf("FAIL %s: %s: %s\n%d passed, %d failed\n", what, rg_status_name(s),
           rg_context_message(ctx), passed, failed + 1);
    exit(1);
}

static void is(const char *what, double got, double want) {
    if (got == want) {
        passed++;
        return;
    }
    printf("FAIL %s is %.17g, want %.17g\n", what, got, want);
    failed++;
}

static rg_array *doubles(int64_t n, bool gradient, const double *values) {
    rg_array *a;
    must(rg_array_new(dev, RG_DTYPE_F64, 1, &n, gradient, &a), "rg_array_new");
    if (values)
        must(rg_array_write(a, RG_DATA, values, (size_t)n * sizeof *values), "rg_array_write");
    return a;
}

static double at(rg_array *a, rg_part part, int64_t i) {
    rg_array *v;
    double x;
    must(rg_array_view(a, 1, &i, &v), "rg_array_view");
    must(rg_array_read(v, part, &x, sizeof x), "rg_array_read");
    rg_array_release(v);
    return x;
}

static void set_gradient(rg_array *a, int64_t i, double x) {
    rg_array *v;
    must(rg_array_view(a, 1, &i, &v), "rg_array_view");
    must(rg_array_write(v, RG_GRADIENT, &x, sizeof x), "rg_array_write");
    rg_array_release(v);
}

static void backward(rg_kernel *k, const rg_arg *args, size_t n, const char *what) {
    rg_record *r;
    must(rg_record_launch(k, args, n, &r), what);
    must(rg_backward(r), what);
    must(rg_sync(dev), what);
    rg_record_release(r);
}

static rg_kernel *kernel(rg_module *m, const char *name) {
    rg_kernel *k;
    must(rg_module_kernel(m, name, &k), name);
    return k;
}

enum { ROWS = 44000, COLUMNS = 100000 }; /* 4.4e9 elements: more than 2^32 */

static const struct {
    int64_t place;
    int8_t value;
} marks[] = {{0, 3},
             {INT64_C(2147483647), 5},
             {INT64_C(2147483648), 7},
             {INT64_C(2147483653), 11},
             {INT64_C(4294967295), 13},
             {INT64_C(4294967296), 17},
             {INT64_C(4294967299), 19},
             {(int64_t)ROWS * COLUMNS - 1, 23}};
enum { MARKS = sizeof marks / sizeof *marks };

static void one_axis(rg_module *m, rg_array *d, long n) {
    static const double weight[4] = {1, 2, 3, 4};
    double sum[4] = {0}, all = 0;
    for (int k = 0; k < MARKS; k++) {
        sum[marks[k].place % 4] += marks[k].value;
        all += marks[k].value;
    }
    rg_array *w = doubles(4, true, weight), *s = doubles(4, true, NULL);
    for (int k = 0; k < 4; k++)
        set_gradient(s, k, k + 1);
    rg_arg flat[] = {RG_VALUE(n), RG_ARRAY(d), RG_ARRAY(w), RG_ARRAY(s)};
    backward(kernel(m, "flat"), flat, 4, "flat");
    for (int k = 0; k < 4; k++) {
        is("flat: s", at(s, RG_DATA, k), weight[k] * weight[k] * sum[k]);
        is("flat: w.grad", at(w, RG_GRADIENT, k), 2 * weight[k] * sum[k] * (k + 1));
    }
    rg_array_release(w);
    rg_array_release(s);
    w = doubles(1, true, weight + 1);
    s = doubles(1, true, NULL);
    set_gradient(s, 0, 1);
    rg_arg wide[] = {RG_VALUE(n), RG_ARRAY(d), RG_ARRAY(w), RG_ARRAY(s)};
    backward(kernel(m, "wide"), wide, 4, "wide");
    is("wide: s", at(s, RG_DATA, 0), 4 * all * all);
    is("wide: w.grad", at(w, RG_GRADIENT, 0), 2 * 2 * all * all);
    rg_array_release(w);
    rg_array_release(s);
}

static void two_axes(rg_module *m, rg_array *d, const char *name) {
    static const double weight[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int n = ROWS, columns = COLUMNS;
    double grad[8] = {0};
    rg_array *w = doubles(8, true, weight), *s = doubles(ROWS, true, NULL);
    for (int k = 0; k < MARKS; k++) {
        int64_t i = marks[k].place / COLUMNS, j = marks[k].place % COLUMNS;
        set_gradient(s, i, (double)(i % 5 + 1));
        grad[j & 7] += marks[k].value * (double)(i % 5 + 1);
    }
    rg_arg args[] = {RG_VALUE(n), RG_VALUE(columns), RG_ARRAY(d), RG_ARRAY(w), RG_ARRAY(s)};
    backward(kernel(m, name), args, 5, name);
    for (int k = 0; k < MARKS; k++) {
        int64_t i = marks[k].place / COLUMNS;
        double want = 0;
        for (int q = 0; q < MARKS; q++)
            if (marks[q].place / COLUMNS == i)
                want += marks[q].value * weight[marks[q].place % COLUMNS & 7];
        is(name, at(s, RG_DATA, i), want);
    }
    for (int k = 0; k < 8; k++)
        is(name, at(w, RG_GRADIENT, k), grad[k]);
    rg_array_release(w);
    rg_array_release(s);
}

/* 2^24 + 2^23 elements that all equal the least: counted in float they would be 2^24. Two kernels:
 * a reduction, and updates of one element. On ref, which adds one by one. */
static void ties(void) {
    static const char source[] = "#include <math.h>\n"
                                 "void least(int n, const float x[n], float y[1]) {\n"
                                 "    float m = INFINITY;\n"
                                 "#pragma omp parallel for reduction(min: m)\n"
                                 "    for (int i = 0; i < n; i++)\n"
                                 "        m = fminf(m, x[i]);\n"
                                 "    y[0] = m;\n"
                                 "}\n"
                                 "void onto(int n, const float x[n], float y[1]) {\n"
                                 "    y[0] = 1;\n"
                                 "#pragma omp parallel for\n"
                                 "    for (int i = 0; i < n; i++) {\n"
                                 "#pragma omp atomic compare\n"
                                 "        if (x[i] < y[0]) { y[0] = x[i]; }\n"
                                 "    }\n"
                                 "}\n";
    static const char *const names[] = {"least", "onto"};
    int32_t n = 3 << 23;
    int64_t many = n, one = 1, last = n - 1;
    const float seed = 3.0f;
    rg_module *m;
    must(rg_module_compile(dev, "ties.c", source, sizeof source - 1, NULL, &m), "ties.c");
    for (int k = 0; k < 2; k++) {
        rg_array *x, *y, *v;
        float g = 0;
        must(rg_array_new(dev, RG_DTYPE_F32, 1, &many, true, &x), "x");
        must(rg_array_new(dev, RG_DTYPE_F32, 1, &one, true, &y), "y");
        must(rg_array_write(y, RG_GRADIENT, &seed, sizeof seed), "y.grad");
        rg_arg args[] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
        backward(kernel(m, names[k]), args, 3, names[k]);
        must(rg_array_view(x, 1, &last, &v), "rg_array_view");
        must(rg_array_read(v, RG_GRADIENT, &g, sizeof g), "rg_array_read");
        is(names[k], g, 0x1p-23);
        rg_array_release(v);
        rg_array_release(x);
        rg_array_release(y);
    }
    rg_module_release(m);
}

int main(void) {
    rg_context_options o = {.size = sizeof o, .cache_dir = ""};
    if (rg_context_new(&o, &ctx) != RG_OK)
        return 1;
    rg_module *m;
    must(rg_device_open(ctx, "cpu", NULL, &dev), "cpu");
    must(rg_module_compile(dev, "large.c", text, sizeof text - 1, NULL, &m), "large.c");
    int64_t shape[2] = {ROWS, COLUMNS}, n = (int64_t)ROWS * COLUMNS;
    rg_array *d, *table;
    must(rg_array_new(dev, RG_DTYPE_I8, 1, &n, false, &d), "4.4 GB");
    void *p;
    must(rg_array_map(d, RG_DATA, &p), "map");
    for (int k = 0; k < MARKS; k++)
        ((int8_t *)p)[marks[k].place] = marks[k].value;
    must(rg_array_unmap(d, RG_DATA), "unmap");
    one_axis(m, d, (long)n);
    must(rg_array_map(d, RG_DATA, &p), "map");
    must(rg_array_wrap(dev, RG_DTYPE_I8, 2, shape, p, NULL, &table), "wrap");
    two_axes(m, table, "table");
    two_axes(m, table, "drain");
    int8_t *v = p;
    for (int k = 0; k < MARKS; k++) {
        int64_t i = marks[k].place / COLUMNS, j = marks[k].place % COLUMNS;
        is("drain: d", v[marks[k].place], (double)((i * 7 + j) & 127));
    }
    rg_array_release(table);
    must(rg_array_unmap(d, RG_DATA), "unmap");
    rg_array_release(d);
    /* 2^40 elements: words, not a crash */
    int64_t huge = INT64_C(1) << 60;
    rg_status s = rg_array_new(dev, RG_DTYPE_F64, 1, &huge, false, &d);
    is("status of an impossible size", s == RG_ERROR_MEMORY || s == RG_ERROR_ARGUMENT, 1);
    rg_module_release(m);
    rg_device_release(dev);
    must(rg_device_open(ctx, "ref", NULL, &dev), "ref");
    ties();
    rg_device_release(dev);
    rg_context_release(ctx);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
