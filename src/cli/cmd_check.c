/* retrograd check: the gradient check of every kernel of a file (check_kernel.c), and its report.
 */
#include "check_kernel.h"
#include "dtype.h"
#include "json.h"
#include "progress.h"

#include <math.h>
#include <string.h>

typedef struct totals {
    size_t passed, failed, skipped;
} totals;

static void count(totals *t, const rg_check_cell *c) {
    t->passed += c->state == RG_CHECK_PASS;
    t->failed += c->state == RG_CHECK_FAIL;
    t->skipped += c->state == RG_CHECK_SKIP;
}

static const char *state_name(rg_check_state s) {
    return s == RG_CHECK_PASS ? "ok" : s == RG_CHECK_FAIL ? "FAIL" : "skipped";
}

static void print_cell(const char *name, const rg_check_cell *c) {
    if (c->state == RG_CHECK_SKIP)
        printf("  %s skipped", name);
    else if (c->state != RG_CHECK_NONE)
        printf("  %s %.1e %s", name, c->error, state_name(c->state));
}

static void print_note(const rg_check_report *r, const char *param, const char *name,
                       const rg_check_cell *c) {
    if (c->note)
        printf("    %s %s: %s: %s\n", r->kernel, param, name, c->note);
}

static void print_report(const rg_check_report *r) {
    size_t width = 0;
    for (size_t i = 0; i < r->n; i++)
        width = strlen(r->rows[i].param) > width ? strlen(r->rows[i].param) : width;
    for (size_t i = 0; i < r->n; i++) {
        const rg_check_row *row = &r->rows[i];
        if (!row->has_gradient && row->primal.state == RG_CHECK_NONE)
            continue;
        printf("%s %-*s", r->kernel, (int)width, row->param);
        if (row->has_gradient)
            printf("  nonzero %3.0f%%", 100 * row->nonzero);
        print_cell("adjoint-tangent", &row->tangent);
        print_cell("adjoint-difference", &row->difference);
        print_cell("hvp-difference", &row->hvp);
        print_cell("orders", &row->orders);
        print_cell("primal", &row->primal);
        putchar('\n');
        print_note(r, row->param, "adjoint-tangent", &row->tangent);
        print_note(r, row->param, "adjoint-difference", &row->difference);
        print_note(r, row->param, "hvp-difference", &row->hvp);
        print_note(r, row->param, "orders", &row->orders);
        print_note(r, row->param, "primal", &row->primal);
        if (row->kinks)
            printf("    %s %s: %zu difference%s undecided: %s\n", r->kernel, row->param, row->kinks,
                   row->kinks == 1 ? "" : "s", row->kink);
    }
    if (r->whole.state != RG_CHECK_NONE)
        printf("%s  %s  %s\n", r->kernel, state_name(r->whole.state),
               r->whole.note ? r->whole.note : "");
}

static void json_cell(rg_json *j, const char *name, const rg_check_cell *c) {
    if (c->state == RG_CHECK_NONE)
        return;
    rg_json_key(j, name);
    rg_json_object(j);
    rg_json_key(j, "result");
    rg_json_string(j, c->state == RG_CHECK_FAIL   ? "failed"
                      : c->state == RG_CHECK_PASS ? "passed"
                                                  : "skipped");
    rg_json_key(j, "error");
    rg_json_real(j, c->error);
    if (c->note) {
        rg_json_key(j, "note");
        rg_json_string(j, c->note);
    }
    rg_json_object_end(j);
}

static void json_report(rg_json *j, const rg_check_report *r) {
    rg_json_object(j);
    rg_json_key(j, "kernel");
    rg_json_string(j, r->kernel);
    rg_json_key(j, "inputs");
    rg_json_string(j, r->inputs);
    json_cell(j, "whole", &r->whole);
    rg_json_key(j, "parameters");
    rg_json_array(j, false);
    for (size_t i = 0; i < r->n; i++) {
        const rg_check_row *row = &r->rows[i];
        if (!row->has_gradient && row->primal.state == RG_CHECK_NONE)
            continue;
        rg_json_object(j);
        rg_json_key(j, "name");
        rg_json_string(j, row->param);
        if (row->has_gradient) {
            rg_json_key(j, "nonzero");
            rg_json_real(j, row->nonzero);
        }
        json_cell(j, "adjoint_tangent", &row->tangent);
        json_cell(j, "adjoint_difference", &row->difference);
        json_cell(j, "hvp_difference", &row->hvp);
        json_cell(j, "orders", &row->orders);
        json_cell(j, "primal", &row->primal);
        if (row->kinks) {
            rg_json_key(j, "undecided");
            rg_json_int(j, (int64_t)row->kinks);
            rg_json_key(j, "kink");
            rg_json_string(j, row->kink);
        }
        rg_json_object_end(j);
    }
    rg_json_array_end(j);
    rg_json_object_end(j);
}

/* Its own arithmetic may be in float even when all its parameters are double. */
static bool says_float(const char *path) {
    size_t size;
    char *text = rg_cli_read_file(path, &size);
    return text && rg_check_text_in_float(text);
}

/* Every NAME=VALUE must be a parameter of some kernel that is checked. */
static void check_names(const rg_cli_args *a, const rg_cli_binding *b, size_t n) {
    for (size_t i = 0; i < a->values.n; i++) {
        bool found = false;
        for (size_t k = 0; k < n; k++)
            found = found || rg_cli_binding_find(&b[k], a->values.at[i].name);
        if (!found && n == 1)
            rg_cli_binding_unknown(&b[0], a->values.at[i].name);
        else if (!found)
            rg_cli_problem("no kernel of the file has a parameter '%s'", a->values.at[i].name);
    }
}

static bool check_all(rg_check *c, rg_cli_binding *b, size_t n, totals *t) {
    rg_json j = rg_json_open(stdout);
    if (c->args->json) {
        rg_json_object(&j);
        rg_json_key(&j, "file");
        rg_json_string(&j, c->args->file);
        rg_json_key(&j, "device");
        rg_json_string(&j, c->args->device ? c->args->device : "cpu");
        rg_json_key(&j, "kernels");
        rg_json_array(&j, false);
    }
    bool fine = true;
    for (size_t i = 0; i < n && fine; i++) {
        rg_check_report r;
        rg_cli_progress("checking %s", b[i].name);
        fine = rg_check_kernel(c, &b[i], &r);
        rg_cli_progress(NULL);
        if (!fine)
            break;
        if (c->args->json)
            json_report(&j, &r);
        else
            print_report(&r);
        fflush(stdout);
        count(t, &r.whole);
        for (size_t k = 0; k < r.n; k++) {
            count(t, &r.rows[k].tangent);
            count(t, &r.rows[k].difference);
            count(t, &r.rows[k].hvp);
            count(t, &r.rows[k].orders);
            count(t, &r.rows[k].primal);
        }
    }
    if (c->args->json) {
        rg_json_array_end(&j);
        rg_json_key(&j, "passed");
        rg_json_int(&j, (int64_t)t->passed);
        rg_json_key(&j, "failed");
        rg_json_int(&j, (int64_t)t->failed);
        rg_json_key(&j, "skipped");
        rg_json_int(&j, (int64_t)t->skipped);
        rg_json_object_end(&j);
        rg_json_close(&j);
    } else if (fine) {
        printf("%zu passed, %zu failed", t->passed, t->failed);
        if (t->skipped)
            printf(", %zu skipped", t->skipped);
        putchar('\n');
    }
    return fine;
}

static int run(const rg_cli_args *a) {
    rg_cli_session device = {0}, reference = {0};
    rg_check_build fine = {0}, plain = {0};
    rg_kernel **kernels = NULL;
    size_t n = 0;
    if (!a->file)
        rg_cli_problem("check wants a kernel file: retrograd check FILE [KERNEL] [NAME=VALUE ...]");
    for (size_t i = 0; i < a->extra.n; i++)
        rg_cli_problem("'%s' is one name too many", a->extra.at[i]);
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    bool is_ref = a->device && strcmp(a->device, "ref") == 0;
    bool ok = rg_cli_session_open(a, NULL, RG_CLI_CHECKED | (is_ref ? RG_CLI_RACES : 0), &device) &&
              rg_cli_session_kernels(&device, a->kernel, &kernels, &n);
    if (ok && !is_ref)
        ok = rg_cli_session_open(a, "ref", RG_CLI_CHECKED | RG_CLI_RACES, &reference);
    rg_cli_binding *b = rg_cli_alloc(n, sizeof *b);
    const rg_cli_binding **list = rg_cli_alloc(n, sizeof *list);
    for (size_t i = 0; i < n && ok; i++) {
        ok = rg_cli_binding_new(kernels[i], device.ctx, &b[i]);
        list[i] = &b[i];
    }
    if (ok)
        check_names(a, b, n);
    for (size_t i = 0; i < n && ok && !rg_cli_problem_count(); i++) {
        rg_cli_binding_assign(&b[i], &a->values, true);
        if (!rg_cli_problem_count())
            rg_cli_binding_solve(&b[i]);
    }
    ok = ok && !rg_cli_problem_count();
    totals t = {0};
    if (ok) {
        rg_cli_progress("compiling %s with float as double", a->file);
        rg_check_build_new(a, list, n, true, &fine);
        rg_cli_progress(NULL);
        rg_check c = {a,    &device, is_ref ? NULL : &reference, &fine, &plain,
                      list, n,       says_float(a->file)};
        ok = check_all(&c, b, n, &t);
    }
    for (size_t i = 0; i < n; i++)
        rg_cli_binding_free(&b[i]);
    rg_check_build_free(&fine);
    rg_check_build_free(&plain);
    rg_cli_session_close(&reference);
    rg_cli_session_close(&device);
    return !ok ? RG_CLI_BAD : t.failed ? RG_CLI_FAILED : RG_CLI_OK;
}

const rg_cli_command rg_cmd_check = {
    .name = "check",
    .usage = "FILE [KERNEL] [NAME=VALUE ...] [options]",
    .summary = "check the gradients of kernels",
    .about =
        "Checks KERNEL, or every kernel of FILE, in checked mode: bounds, integer division,\n"
        "shifts and races are reported. Inputs that are not given are drawn (see --seed):\n"
        "extents are small, integer arrays are drawn as indices. Then:\n"
        "  adjoint-tangent      <y, J v> = <J'y, v>, with random y and v\n"
        "  adjoint-difference   J'y against central differences of FILE built by the C compiler\n"
        "                       ($CC, or cc) with float as double\n"
        "  primal               outputs against that build\n"
        "and with --second-order, for a random direction v in each parameter:\n"
        "  hvp-difference       Hessian-vector products, as tangent of the adjoint and as adjoint\n"
        "                       of the tangent, against central differences of gradients\n"
        "  orders               the two against each other\n"
        "A row for each parameter says how much of its gradient is not zero, and the relative\n"
        "errors. Where the function has a kink, so that no difference can decide, other inputs\n"
        "are drawn, and the test is skipped if that does not help. The last line is\n"
        "`N passed, N failed`; the exit status is 1 when a test failed.",
    .examples = "  retrograd check springs.c\n"
                "  retrograd check springs.c energy n=20 ends=ends.npy --device ref\n"
                "  retrograd check springs.c --json\n",
    .options = RG_OPT_BIT(DEVICE) | RG_OPT_BIT(SEED) | RG_OPT_BIT(SECOND_ORDER) |
               RG_OPT_BIT(EDGES) | RG_OPT_BIT(TAPE_MEMORY) | RG_OPT_BIT(THREADS) |
               RG_OPT_BIT(CHECKED) | RG_OPT_BIT(DEFINE) | RG_OPT_BIT(INCLUDE) | RG_OPT_BIT(CPP) |
               RG_OPT_BIT(JSON) | RG_OPT_BIT(HELP),
    .run = run,
};
