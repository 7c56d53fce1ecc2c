/* Speed, as ratios in one run (docs/benchmarks.md).
 *
 *     bench [--json] [--case NAME] [--threads 1|2] [--seconds S] [--dir bench]
 *
 * Each row is marked PASS or over target. Exit status: 0, also when something is over target; 1
 * when a row could not be measured or a gradient is wrong; 2 bad use. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double HAND_TARGET = 1.15, SPRINGS_TARGET = 5e-3, LARGE_TARGET = 1.0,
                    LAUNCH_TARGET = 5e-6, GROWTH_TARGET = 2.0;

typedef struct options {
    bool json, compile_only;
    const char *only, *dir;
    int threads;
    double seconds;
} options;

typedef struct tally {
    int passed, over, failed;
    bool json, first;
} tally;

static const char *mark(tally *t, bool pass) {
    if (pass)
        t->passed++;
    else
        t->over++;
    return pass ? "PASS" : "over target";
}

/* JSON has no infinity and no NaN. */
static void number(const char *name, double v, const char *end) {
    if (isfinite(v))
        printf("\"%s\": %.6g%s", name, v, end);
    else
        printf("\"%s\": null%s", name, end);
}

static void text(const char *name, const char *v, const char *end) {
    printf("\"%s\": \"", name);
    for (; *v; v++) {
        if (*v == '"' || *v == '\\')
            printf("\\%c", *v);
        else if ((unsigned char)*v < 32)
            printf("\\u%04x", (unsigned)*v);
        else
            putchar(*v);
    }
    printf("\"%s", end);
}

static void row_start(tally *t, const char *kind) {
    printf("%s\n    {", t->first ? "" : ",");
    text("kind", kind, ", ");
    t->first = false;
}

static void print_case(tally *t, const bench_result *r) {
    double hand = r->over_hand.a / r->over_hand.b, ratio = r->over_primal.a / r->over_primal.b,
           over_cc = r->over_cc.a / r->over_cc.b;
    bool failed = r->failed[0];
    bool pass = hand <= HAND_TARGET &&
                (r->threads > 1 || r->c->literature == 0.0 || over_cc <= r->c->literature);
    const char *m = failed ? "FAILED" : mark(t, pass);
    if (failed)
        t->failed++;
    if (t->json) {
        row_start(t, "adjoint");
        text("case", r->c->name, ", ");
        text("what", r->c->what, ", ");
        printf("\"threads\": %d, ", r->threads);
        if (failed)
            text("failed", r->failed, ", ");
        else {
            number("adjoint_s", r->over_primal.a, ", ");
            number("primal_s", r->over_primal.b, ", ");
            number("hand_s", r->over_hand.b, ", ");
            number("cc_primal_s", r->primal.b, ", ");
            number("floor_s", r->floor, ", ");
            number("over_primal", ratio, ", ");
            number("over_primal_median", r->over_primal.median, ", ");
            number("over_cc_primal", over_cc, ", ");
            number("over_cc_primal_median", r->over_cc.median, ", ");
            number("over_hand", hand, ", ");
            number("over_hand_median", r->over_hand.median, ", ");
            number("primal_over_cc", r->primal.a / r->primal.b, ", ");
            number("record_and_adjoint_over_primal", r->whole.a / r->whole.b, ", ");
            number("over_floor", r->over_primal.a / r->floor, ", ");
            number("hand_over_floor", r->over_hand.b / r->floor, ", ");
            number("literature", r->c->literature > 0 ? r->c->literature : NAN, ", ");
            number("largest_difference", r->error, ", ");
        }
        text("mark", m, "}");
    } else if (failed) {
        printf("| %s | %d | %s: %s |\n", r->c->name, r->threads, m, r->failed);
    } else {
        char literature[32] = "";
        if (r->c->literature > 0 && r->threads == 1)
            snprintf(literature, sizeof literature, "%.2f", r->c->literature);
        printf("| %s | %d | %.3f | %.2f (%.2f) | %.2f (%.2f) | %s | %.2f (%.2f) | %.2f | %.2f | "
               "%.2f | %s |\n",
               r->c->name, r->threads, r->over_primal.a * 1e3, ratio, r->over_primal.median,
               over_cc, r->over_cc.median, literature, hand, r->over_hand.median,
               r->over_primal.a / r->floor, r->over_hand.b / r->floor, r->whole.a / r->whole.b, m);
    }
    fflush(stdout);
}

static void print_value(tally *t, const char *kind, const char *what, double v, double median,
                        double target, double scale, const char *unit, const char *failed) {
    bool bad = failed[0];
    const char *m = bad ? "FAILED" : target > 0 ? mark(t, v <= target) : "";
    if (bad)
        t->failed++;
    if (t->json) {
        row_start(t, kind);
        text("what", what, ", ");
        if (bad)
            text("failed", failed, ", ");
        number("value", v, ", ");
        number("median", median, ", ");
        number("target", target > 0 ? target : NAN, ", ");
        text("mark", m, "}");
    } else if (bad)
        printf("| %s | %s: %s |\n", what, m, failed);
    else {
        char limit[32] = "", middle[32] = "";
        if (target > 0)
            snprintf(limit, sizeof limit, "%.4g%s", target * scale, unit);
        if (isfinite(median))
            snprintf(middle, sizeof middle, "%.4g%s", median * scale, unit);
        printf("| %s | %.4g%s | %s | %s | %s |\n", what, v * scale, unit, middle, limit, m);
    }
    fflush(stdout);
}

static void compiler(rg_context *ctx, const options *o, tally *t) {
    const size_t sizes[] = {100, 1000, 5000, 20000};
    double each[4] = {0};
    bench_compile c;
    if (!t->json)
        printf("\n| the compiler, text to adjoint C | least | median | target | |\n"
               "| --- | --- | --- | --- | --- |\n");
    bench_compile_springs(ctx, o->dir, &c);
    print_value(t, "compile", "springs.c", c.seconds, c.median, SPRINGS_TARGET, 1e3, " ms",
                c.failed);
    for (int i = 0; i < 4; i++) {
        char what[64];
        bench_compile_generated(ctx, sizes[i], &c);
        snprintf(what, sizeof what, "%zu statements", sizes[i]);
        each[i] = c.failed[0] ? NAN : c.seconds / (double)sizes[i];
        print_value(t, "compile", what, c.seconds, c.median, sizes[i] == 20000 ? LARGE_TARGET : 0,
                    1e3, " ms", c.failed);
    }
    print_value(t, "growth", "time for a statement, 20000 over 1000", each[3] / each[1], NAN,
                GROWTH_TARGET, 1, "", isfinite(each[3] / each[1]) ? "" : "not measured");
}

static void launches(rg_context *ctx, rg_device *const dev[2], const options *o, tally *t) {
    bench_launches l;
    if (!t->json)
        printf(
            "\n| launches on cpu | least | median | target | |\n| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 2; i++) {
        char what[64];
        if (!dev[i])
            continue;
        bench_measure_launches(ctx, dev[i], o->dir, &l);
        snprintf(what, sizeof what, "launch, %d thread%s", i + 1, i ? "s" : "");
        print_value(t, "launch", what, l.launch, NAN, LAUNCH_TARGET, 1e6, " us", l.failed);
        snprintf(what, sizeof what, "record and backward, %d thread%s", i + 1, i ? "s" : "");
        print_value(t, "launch", what, l.record_backward, NAN, 0, 1e6, " us", l.failed);
    }
}

static void print_peaks(tally *t, int threads, const bench_peaks *p) {
    const double values[] = {p->copy,  p->f32,   p->f64,  p->div32,
                             p->sinf_, p->expf_, p->exp_, p->tanh_};
    static const char *const names[] = {"bytes_moved", "float_ops", "double_ops", "float_rsqrt",
                                        "sinf",        "expf",      "exp",        "tanh"};
    if (t->json) {
        row_start(t, "peaks");
        printf("\"threads\": %d", threads);
        for (int i = 0; i < 8; i++) {
            printf(", ");
            number(names[i], values[i], "");
        }
        printf("}");
    } else {
        printf("peaks, %d thread%s, 1e9/s:", threads, threads > 1 ? "s" : "");
        for (int i = 0; i < 8; i++)
            printf(" %s %.3g", names[i], values[i] * 1e-9);
        printf("\n");
    }
}

/* On a busy machine two threads may look slower than one: they can do what one can, and twice the
 * operations. */
static void at_least(bench_peaks *p, const bench_peaks *one) {
    double *v = &p->copy;
    const double *w = &one->copy;
    for (size_t i = 0; i < sizeof *p / sizeof *v; i++)
        v[i] = fmax(v[i], i ? 2.0 * w[i] : w[i]);
}

static int usage(void) {
    fprintf(stderr, "usage: bench [--json] [--case NAME] [--compile] [--threads 1|2] [--seconds S] "
                    "[--dir bench]\n");
    return 2;
}

static bool parse(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--json") == 0) {
            o->json = true;
            continue;
        }
        if (strcmp(a, "--compile") == 0) {
            o->compile_only = true;
            continue;
        }
        if (!v)
            return false;
        if (strcmp(a, "--case") == 0)
            o->only = v;
        else if (strcmp(a, "--dir") == 0)
            o->dir = v;
        else if (strcmp(a, "--threads") == 0)
            o->threads = atoi(v);
        else if (strcmp(a, "--seconds") == 0)
            o->seconds = atof(v);
        else
            return false;
        i++;
    }
    return o->threads >= 0 && o->threads <= 2 && o->seconds >= 0;
}

int main(int argc, char **argv) {
    options o = {.dir = "bench", .seconds = 3};
    tally t = {.first = true};
    rg_context *ctx;
    rg_device *dev[2] = {NULL, NULL};
    bench_peaks peaks[2];
    if (!parse(argc, argv, &o))
        return usage();
    t.json = o.json;
    if (rg_context_new(NULL, &ctx) != RG_OK) {
        fprintf(stderr, "bench: out of memory\n");
        return 1;
    }
    for (int i = 0; i < 2 && !o.compile_only; i++) {
        rg_device_options d = {.size = sizeof d, .threads = i + 1};
        if (o.threads && o.threads != i + 1)
            continue;
        if (i && sysconf(_SC_NPROCESSORS_ONLN) < 2) {
            fprintf(stderr, "bench: one core only: no rows for two threads\n");
            continue;
        }
        if (rg_device_open(ctx, "cpu", &d, &dev[i]) != RG_OK) {
            fprintf(stderr, "bench: %s\n", rg_context_message(ctx));
            rg_context_release(ctx);
            return 1;
        }
    }
    if (t.json)
        printf("{\"version\": \"%s\", \"rows\": [", rg_version());
    for (int i = 0; i < 2; i++)
        if (dev[i]) {
            bench_measure_peaks(i + 1, &peaks[i]);
            if (i && dev[0])
                at_least(&peaks[1], &peaks[0]);
            print_peaks(&t, i + 1, &peaks[i]);
        }
    if (!t.json && !o.compile_only)
        printf("\n| case | threads | adjoint, ms | over primal | over cc's primal | literature | "
               "over hand | over floor | hand over floor | record + adjoint over primal | |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t c = 0; c < bench_n_cases && !o.compile_only; c++) {
        if (o.only && strcmp(o.only, bench_cases[c].name) != 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (dev[i]) {
                bench_result r;
                bench_measure(ctx, dev[i], o.dir, &bench_cases[c], i + 1, &peaks[i], o.seconds, &r);
                print_case(&t, &r);
            }
    }
    if (!o.only) {
        compiler(ctx, &o, &t);
        if (!o.compile_only)
            launches(ctx, dev, &o, &t);
    }
    if (t.json)
        printf("\n], \"passed\": %d, \"over_target\": %d, \"failed\": %d}\n", t.passed, t.over,
               t.failed);
    else
        printf("\n%d passed, %d over target, %d failed\n", t.passed, t.over, t.failed);
    for (int i = 0; i < 2; i++)
        rg_device_release(dev[i]);
    rg_context_release(ctx);
    return t.failed ? 1 : 0;
}
