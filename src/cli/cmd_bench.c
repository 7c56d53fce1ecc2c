/* retrograd bench: what compiling, launching, the primal and the adjoint take.
 *
 * Times are the smallest of many runs: what disturbs a run only ever adds to it. Arrays get their
 * first values again before each run, so that all runs do the same. */
#include "json.h"
#include "launch.h"
#include "progress.h"
#include "session.h"

#include <math.h>

typedef struct timing {
    double compile, launch, primal, record, adjoint;
    int runs;
} timing;

static double least(double a, double b) {
    return a < 0 || b < a ? b : a;
}

/* Compiled with no cache, so that the time is that of compiling. */
static bool time_compile(const rg_cli_args *a, timing *t) {
    rg_cli_session s;
    rg_kernel *k;
    double start = rg_cli_now();
    bool ok = rg_cli_session_open(a, NULL, RG_CLI_NO_CACHE, &s);
    rg_status st = ok ? rg_module_kernel(s.mod, a->kernel, &k) : RG_OK;
    for (int m = 0; ok && st == RG_OK && m < 2; m++) {
        rg_emit_options e = {.size = sizeof e,
                             .mode = m ? RG_MODE_ADJOINT : RG_MODE_PRIMAL,
                             .target = RG_TARGET_CPU};
        rg_cli_progress("compiling %s", a->kernel);
        st = rg_kernel_prepare(k, &e);
    }
    t->compile = rg_cli_now() - start;
    rg_cli_progress(NULL);
    if (ok && st != RG_OK)
        rg_cli_session_fail(s.ctx, a->kernel, st);
    rg_cli_session_close(&s);
    return ok && st == RG_OK;
}

static rg_status once(rg_cli_session *s, rg_cli_launch *plain, rg_cli_launch *active, timing *t) {
    size_t n = plain->binding->n;
    rg_record *record = NULL;
    rg_status st = rg_cli_launch_reset(plain);
    if (st == RG_OK)
        st = rg_sync(s->dev);
    if (st != RG_OK)
        return st;
    double start = rg_cli_now();
    st = rg_launch(plain->kernel, plain->args, n);
    double launched = rg_cli_now();
    if (st == RG_OK)
        st = rg_sync(s->dev);
    t->primal = least(t->primal, rg_cli_now() - start);
    t->launch = least(t->launch, launched - start);
    if (st == RG_OK)
        st = rg_cli_launch_reset(active);
    for (size_t i = 0; st == RG_OK && i < n; i++) /* weights of one on every output */
        if (active->binding->params[i].seed && rg_cli_launch_has_gradient(active, i))
            st = rg_cli_launch_set_gradient(active, i, active->binding->params[i].seed);
    if (st == RG_OK)
        st = rg_sync(s->dev);
    if (st != RG_OK)
        return st;
    start = rg_cli_now();
    st = rg_record_launch(active->kernel, active->args, n, &record);
    if (st == RG_OK)
        st = rg_sync(s->dev);
    t->record = least(t->record, rg_cli_now() - start);
    start = rg_cli_now();
    if (st == RG_OK)
        st = rg_backward(record);
    if (st == RG_OK)
        st = rg_sync(s->dev);
    t->adjoint = least(t->adjoint, rg_cli_now() - start);
    if (record)
        rg_record_release(record);
    t->runs++;
    return st;
}

/* Outputs that have no --grad get ones: a zero cotangent may let the adjoint off too lightly. */
static void default_gradients(rg_cli_binding *b, rg_cli_args *a) {
    for (size_t i = 0; i < b->n; i++) {
        const rg_cli_param *p = &b->params[i];
        bool given = false;
        for (size_t k = 0; k < a->grads.n; k++)
            given = given || rg_cli_binding_find(b, a->grads.at[k].name) == p;
        if (given || !p->info.is_array || p->info.is_const || !p->info.has_float)
            continue;
        rg_cli_pair *more = rg_cli_alloc(a->grads.n + 1, sizeof *more);
        for (size_t k = 0; k < a->grads.n; k++)
            more[k] = a->grads.at[k];
        more[a->grads.n++] = (rg_cli_pair){p->info.name, "", "ones"};
        a->grads.at = more;
    }
}

static void print(const rg_cli_args *a, const timing *t) {
    double ratio = t->primal > 0 ? t->adjoint / t->primal : 0;
    if (a->json) {
        const struct {
            const char *name;
            double value;
        } rows[] = {{"compile_seconds", t->compile}, {"launch_seconds", t->launch},
                    {"primal_seconds", t->primal},   {"record_seconds", t->record},
                    {"adjoint_seconds", t->adjoint}, {"adjoint_over_primal", ratio}};
        rg_json j = rg_json_open(stdout);
        rg_json_object(&j);
        rg_json_key(&j, "kernel");
        rg_json_string(&j, a->kernel);
        rg_json_key(&j, "device");
        rg_json_string(&j, a->device ? a->device : "cpu");
        rg_json_key(&j, "runs");
        rg_json_int(&j, t->runs);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            rg_json_key(&j, rows[i].name);
            rg_json_real(&j, rows[i].value);
        }
        rg_json_object_end(&j);
        rg_json_close(&j);
        return;
    }
    printf("%s on %s, least of %d runs\n", a->kernel, a->device ? a->device : "cpu", t->runs);
    printf("  compile  %12.3f ms  front-end, primal and adjoint, no cache\n", 1e3 * t->compile);
    printf("  launch   %12.6f ms  until the call returns\n", 1e3 * t->launch);
    printf("  primal   %12.6f ms\n", 1e3 * t->primal);
    printf("  record   %12.6f ms  primal that keeps what its adjoint needs\n", 1e3 * t->record);
    printf("  adjoint  %12.6f ms\n", 1e3 * t->adjoint);
    printf("  ratio    %12.2f     adjoint / primal\n", ratio);
}

static int run(const rg_cli_args *args) {
    rg_cli_args a = *args;
    timing t = {.launch = -1, .primal = -1, .record = -1, .adjoint = -1};
    rg_cli_session s = {0};
    rg_cli_binding b = {0};
    rg_cli_launch plain = {0}, active = {0};
    rg_kernel **kernels;
    size_t n;
    if (!a.file || !a.kernel)
        rg_cli_problem("bench wants a file and a kernel: retrograd bench FILE KERNEL [NAME=VALUE "
                       "...]");
    for (size_t i = 0; i < a.extra.n; i++)
        rg_cli_problem("'%s' is one name too many: values are given as NAME=VALUE", a.extra.at[i]);
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    bool ok = rg_cli_session_open(&a, NULL, 0, &s) &&
              rg_cli_session_kernels(&s, a.kernel, &kernels, &n) &&
              rg_cli_binding_new(kernels[0], s.ctx, &b);
    if (ok) {
        default_gradients(&b, &a);
        ok = rg_cli_bind(&b, &a) && time_compile(&a, &t);
    }
    if (ok) {
        rg_status st = rg_cli_launch_new(kernels[0], &b, false, &plain);
        if (st == RG_OK)
            st = rg_cli_launch_new(kernels[0], &b, true, &active);
        timing warm = t;
        if (st == RG_OK)
            st = once(&s, &plain, &active, &warm); /* compiles, touches memory */
        double start = rg_cli_now();
        while (st == RG_OK &&
               (a.repeat ? t.runs < a.repeat
                         : t.runs < 3 || (t.runs < 1000 && rg_cli_now() - start < 1))) {
            rg_cli_progress("running %s", b.name);
            st = once(&s, &plain, &active, &t);
        }
        rg_cli_progress(NULL);
        ok = st == RG_OK;
        if (ok)
            print(&a, &t);
        else
            rg_cli_session_fail(s.ctx, b.name, st);
    }
    rg_cli_launch_free(&plain);
    rg_cli_launch_free(&active);
    rg_cli_binding_free(&b);
    rg_cli_session_close(&s);
    return ok ? RG_CLI_OK : RG_CLI_BAD;
}

const rg_cli_command rg_cmd_bench = {
    .name = "bench",
    .usage = "FILE KERNEL [NAME=VALUE ...] [options]",
    .summary = "time compiling, launching, the primal and the adjoint",
    .about = "Takes values as `retrograd run` does, and prints the least time of many runs:\n"
             "  compile  front-end, primal and adjoint, with no cache\n"
             "  launch   until the launching call returns\n"
             "  primal   one run, to its end\n"
             "  record   a run that keeps what its adjoint needs\n"
             "  adjoint  the backward launch alone\n"
             "Incoming gradients are ones, but for those that --grad gives.",
    .examples = "  retrograd bench springs.c energy n=100000 m=400000 pos=rand ends=zeros \\\n"
                "      rest=ones k=1 e=zeros\n"
                "  retrograd bench f.c f n=1000000 x=rand y=zeros --threads 1 --json\n",
    .options = RG_OPT_BIT(DEVICE) | RG_OPT_BIT(GRAD) | RG_OPT_BIT(REPEAT) | RG_OPT_BIT(CHECKED) |
               RG_OPT_BIT(EDGES) | RG_OPT_BIT(TAPE_MEMORY) | RG_OPT_BIT(THREADS) |
               RG_OPT_BIT(DEFINE) | RG_OPT_BIT(INCLUDE) | RG_OPT_BIT(CPP) | RG_OPT_BIT(JSON) |
               RG_OPT_BIT(HELP),
    .run = run,
};
