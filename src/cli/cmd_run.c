/* retrograd run: one launch, its adjoint or its tangent, on values from the command line. */
#include "launch.h"
#include "progress.h"
#include "results.h"
#include "session.h"

static void check_use(const rg_cli_args *a) {
    if (!a->file)
        rg_cli_problem("run wants a kernel file: retrograd run FILE KERNEL [NAME=VALUE ...]");
    else if (!a->kernel)
        rg_cli_problem("run wants a kernel's name: retrograd run %s KERNEL [NAME=VALUE ...]",
                       a->file);
    for (size_t i = 0; i < a->extra.n; i++)
        rg_cli_problem("'%s' is one name too many: values are given as NAME=VALUE", a->extra.at[i]);
    if (a->grads.n && a->mode != RG_MODE_ADJOINT && !rg_cli_second_order(a))
        rg_cli_problem("--grad wants --mode adjoint or hvp");
    if (a->dots.n && a->mode != RG_MODE_TANGENT && !rg_cli_second_order(a))
        rg_cli_problem("--dot wants --mode tangent or hvp");
}

static rg_status seed_gradients(rg_cli_launch *l) {
    rg_status st = RG_OK;
    for (size_t i = 0; i < l->binding->n && st == RG_OK; i++)
        if (l->binding->params[i].seed && rg_cli_launch_has_gradient(l, i))
            st = rg_cli_launch_set_gradient(l, i, l->binding->params[i].seed);
    return st;
}

static rg_status launch(rg_cli_session *s, rg_cli_launch *l, rg_kernel_mode mode) {
    rg_record *record = NULL;
    size_t n = l->binding->n;
    rg_status st = rg_cli_launch_reset(l);
    if (st == RG_OK)
        st = seed_gradients(l);
    if (st != RG_OK)
        return st;
    rg_cli_progress("running %s", l->binding->name);
    switch (mode) {
    case RG_MODE_PRIMAL:
        st = rg_launch(l->kernel, l->args, n);
        break;
    case RG_MODE_ADJOINT:
        st = rg_record_launch(l->kernel, l->args, n, &record);
        if (st == RG_OK)
            st = rg_backward(record);
        break;
    case RG_MODE_TANGENT:
        st = rg_launch_tangent(l->kernel, l->args, n);
        break;
    case RG_MODE_HVP:
        st = rg_cli_launch_directions(l);
        if (st == RG_OK)
            st = rg_hvp(l->kernel, l->args, l->directions, n);
        break;
    case RG_MODE_ADJOINT_OF_TANGENT:
        st = rg_cli_launch_directions(l);
        if (st == RG_OK)
            st = rg_adjoint_of_tangent(l->kernel, l->args, l->directions, n);
        break;
    }
    if (st == RG_OK)
        st = rg_sync(s->dev);
    if (record)
        rg_record_release(record);
    rg_cli_progress(NULL);
    return st;
}

static int run_kernel(rg_cli_session *s, rg_kernel *k, const rg_cli_args *a) {
    rg_cli_binding b;
    rg_cli_launch l = {0};
    bool ok = rg_cli_binding_new(k, s->ctx, &b);
    if (ok) {
        rg_cli_results_check(&b, a);
        ok = rg_cli_bind(&b, a) && !rg_cli_problem_count();
    }
    if (ok) {
        rg_status st = rg_cli_launch_new(k, &b, a->mode != RG_MODE_PRIMAL, &l);
        double t = rg_cli_now();
        if (st == RG_OK)
            st = launch(s, &l, a->mode);
        t = rg_cli_now() - t;
        ok = st == RG_OK;
        if (!ok) {
            rg_cli_session_fail(s->ctx, b.name, st);
            rg_cli_launch_free(&l);
            rg_cli_binding_free(&b);
            return RG_CLI_BAD;
        }
        static const char *const modes[] = {"primal", "adjoint", "tangent", "hvp",
                                            "adjoint-of-tangent"};
        if (a->json) {
            rg_json j = rg_json_open(stdout);
            rg_json_object(&j);
            rg_json_key(&j, "kernel");
            rg_json_string(&j, b.name);
            rg_json_key(&j, "device");
            rg_json_string(&j, a->device ? a->device : "cpu");
            rg_json_key(&j, "mode");
            rg_json_string(&j, modes[a->mode]);
            rg_json_key(&j, "seconds");
            rg_json_real(&j, t);
            rg_json_key(&j, "results");
            rg_json_array(&j, false);
            ok = rg_cli_results_write(&l, a, &j);
            rg_json_array_end(&j);
            rg_json_object_end(&j);
            rg_json_close(&j);
        } else {
            ok = rg_cli_results_write(&l, a, NULL);
        }
    }
    rg_cli_launch_free(&l);
    rg_cli_binding_free(&b);
    return ok ? RG_CLI_OK : RG_CLI_BAD;
}

static int run(const rg_cli_args *a) {
    check_use(a);
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    rg_cli_session s;
    rg_kernel **kernels;
    size_t n;
    int status = RG_CLI_BAD;
    if (rg_cli_session_open(a, NULL, 0, &s) && rg_cli_session_kernels(&s, a->kernel, &kernels, &n))
        status = run_kernel(&s, kernels[0], a);
    rg_cli_session_close(&s);
    return status;
}

const rg_cli_command rg_cmd_run = {
    .name = "run",
    .usage = "FILE KERNEL [NAME=VALUE ...] [options]",
    .summary = "run a kernel, its adjoint, its tangent or both",
    .about =
        "Compiles FILE, runs KERNEL once, and prints or writes what --out asks for; with no\n"
        "--out, what the kernel changed, cut short.\n"
        "\n"
        "Each parameter takes a VALUE:\n"
        "  3.5              a number (integers for integer parameters, true or false for bool)\n"
        "  1,2.5,3          a list of numbers, in C order\n"
        "  FILE.npy         a NumPy file: little-endian, C order; a struct whose fields share a\n"
        "                   type takes them as a trailing axis\n"
        "  zeros  ones  iota  full:V  rand[:SEED]  randn[:SEED]\n"
        "                   generated, in the declared shape, or in one that is given:\n"
        "                   ones:1024x3, rand:7:1024x3, iota:5\n"
        "An integer parameter that is the extent of a given array may be left out.\n"
        "\n"
        "--mode adjoint: values are from before the launch. The kernel runs, then its adjoint.\n"
        "Every float array and float scalar has a gradient: --grad gives the incoming one, and\n"
        "--out NAME.grad=PATH the result.\n"
        "--mode tangent: --dot gives tangents, --out NAME.dot=PATH the resulting ones.\n"
        "--mode hvp: --grad and --dot; --out NAME.hvp=PATH is the derivative of NAME.grad in the\n"
        "direction that --dot gives.\n"
        "--mode adjoint-of-tangent: the same, by differentiating in the other order.",
    .examples =
        "  retrograd run springs.c energy pos=pos.npy ends=ends.npy rest=ones k=2.5 \\\n"
        "      e=zeros --mode adjoint --grad e=1 --out pos.grad=- --out k.grad=-\n"
        "  retrograd run f.c f n=3 x=iota y=zeros --mode tangent --dot x=ones --out y.dot=-\n"
        "  retrograd run f.c f x=rand:7:1000 y=zeros --device ref --out y=y.npy\n",
    .options = RG_OPT_BIT(DEVICE) | RG_OPT_BIT(MODE) | RG_OPT_BIT(GRAD) | RG_OPT_BIT(DOT) |
               RG_OPT_BIT(OUT) | RG_OPT_BIT(CHECKED) | RG_OPT_BIT(EDGES) | RG_OPT_BIT(TAPE_MEMORY) |
               RG_OPT_BIT(THREADS) | RG_OPT_BIT(DEFINE) | RG_OPT_BIT(INCLUDE) | RG_OPT_BIT(CPP) |
               RG_OPT_BIT(JSON) | RG_OPT_BIT(HELP),
    .run = run,
};
