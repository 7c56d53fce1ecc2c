/* Inputs are drawn until the kernel runs on them without a fault and does something. Then, with
 * random weights y on its outputs:
 *
 *   primal               outputs of the device against the C compiler's build in double
 *   adjoint-tangent      <y, J v> = <J'y, v>, J v from the tangent, J'y from the adjoint; v random
 *                        in one parameter at a time
 *   adjoint-difference   <J'y, v> against a difference of the double build, for some random v,
 *                        and for every scalar of small parameters
 *   hvp-difference, orders   if asked for: check_second.c
 *
 * Tolerances are relative to the size of the terms that were summed. */
#include "check_kernel.h"

#include "check_draw.h"
#include "check_floats.h"
#include "check_second.h"
#include "dtype.h"
#include "launch.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVERY = 32,        /* parameters of up to this many scalars are differenced one by one */
    DIRECTIONS = 3,    /* random directions for each parameter */
    SAMPLES = 8,       /* single scalars of larger parameters */
    REDRAWS = 3,       /* when a kink was hit */
    AFFORDABLE = 20000 /* scalars that the reference device is asked to run with */
};

typedef struct tolerance {
    double primal, tangent, difference, floor;
} tolerance;

static const tolerance for_half = {2e-2, 5e-2, 1e-1, 1e-2};
static const tolerance for_float = {1e-4, 2e-4, 1e-3, 1e-4};
static const tolerance for_double = {1e-10, 1e-9, 1e-6, 1e-4};

typedef struct work {
    rg_check *c;
    rg_cli_binding *b;
    rg_check_report *report;
    rg_cli_launch launch;
    tolerance tol;
    rg_model model;
    bool has_model;
    void **out;      /* [n] what the primal leaves on the device */
    double **weight; /* [n] y, for arrays that carry gradients; NULL: zeros */
    double **grad;   /* [n] J'y of the device */
    uint64_t seed;
    size_t kinks;
    bool diverged; /* rounding takes the double build another way than the device */
    bool odd;      /* some output is inf or nan */
} work;

static tolerance tolerance_of(const rg_check *c, const rg_cli_binding *b) {
    bool half = false, single = c->says_float;
    for (size_t i = 0; i < b->n; i++)
        for (size_t f = 0; f < b->params[i].layout.n; f++) {
            half = half || b->params[i].layout.fields[f].dtype == RG_DTYPE_F16;
            single = single || b->params[i].layout.fields[f].dtype == RG_DTYPE_F32;
        }
    return half ? for_half : single ? for_float : for_double;
}

static void work_clear(work *w) {
    rg_cli_launch_free(&w->launch);
    rg_model_free(&w->model);
    w->has_model = false;
    for (size_t i = 0; i < w->b->n; i++) {
        free(w->out[i]);
        free(w->weight[i]);
        free(w->grad[i]);
        w->out[i] = NULL;
        w->weight[i] = w->grad[i] = NULL;
    }
}

/* ---- primal ---- */

/* Runs the primal on a session's device; outputs to out (NULL entries are made). */
static rg_status run_primal(rg_cli_session *s, const rg_cli_binding *b, void **out,
                            const char **why) {
    rg_kernel *k;
    rg_cli_launch l = {0};
    rg_status st = rg_module_kernel(s->mod, b->name, &k);
    if (st == RG_OK)
        st = rg_cli_launch_new(k, b, false, &l);
    if (st == RG_OK)
        st = rg_cli_launch_reset(&l);
    if (st == RG_OK)
        st = rg_launch(k, l.args, b->n);
    if (st == RG_OK)
        st = rg_sync(s->dev);
    for (size_t i = 0; st == RG_OK && i < b->n; i++) {
        if (!out[i])
            out[i] = rg_check_room(b->params[i].count, b->params[i].info.item_size);
        st = rg_cli_launch_get_data(&l, i, out[i]);
    }
    if (st != RG_OK) {
        *why = rg_check_message(s, st);
        rg_sync(s->dev); /* the error would stick to the next launch */
    }
    rg_cli_launch_free(&l);
    return st;
}

static bool all_finite(const rg_cli_binding *b, void *const *out) {
    for (size_t i = 0; i < b->n; i++) {
        size_t n = rg_check_floats(&b->params[i]);
        double *v = rg_check_room(n, sizeof *v);
        bool finite = true;
        rg_check_floats_get(&b->params[i], out[i], v);
        for (size_t c = 0; c < n; c++)
            finite = finite && isfinite(v[c]);
        free(v);
        if (!finite)
            return false;
    }
    return true;
}

static bool changed(const rg_cli_binding *b, void *const *out, size_t i) {
    return b->params[i].info.is_array && !b->params[i].info.is_const &&
           memcmp(out[i], b->params[i].data, b->params[i].count * b->params[i].info.item_size) != 0;
}

/* Largest error of a parameter's outputs against a model, relative to their size. */
static double primal_error(const work *w, const rg_model *m, size_t i, const void *out) {
    const rg_cli_param *p = &w->b->params[i];
    double scale = 0, worst = 0;
    const unsigned char *item = out;
    for (size_t e = 0; e < p->count; e++, item += p->info.item_size)
        for (size_t f = 0; f < p->layout.n; f++) {
            rg_dtype t = p->layout.fields[f].dtype;
            const void *at = item + p->layout.fields[f].offset;
            if (!rg_cli_dtype_is_float(t)) {
                if (rg_cli_scalar_get_int(t, at) != rg_model_get_int(m, i, e, f))
                    return 1;
                continue;
            }
            double got = rg_cli_scalar_get(t, at), want = rg_model_get(m, i, e, f);
            if ((isnan(got) && isnan(want)) || got == want)
                continue;
            if (!isfinite(got) || !isfinite(want))
                return 1;
            scale = fmax(scale, fabs(want));
            worst = fmax(worst, fabs(got - want));
        }
    for (size_t e = 0; e < p->count; e++) /* equal elements count for the scale as well */
        for (size_t f = 0; f < p->layout.n; f++)
            if (rg_cli_dtype_is_float(p->layout.fields[f].dtype) &&
                isfinite(rg_model_get(m, i, e, f)))
                scale = fmax(scale, fabs(rg_model_get(m, i, e, f)));
    return worst == 0 ? 0 : worst / scale;
}

static bool differs(const work *w) {
    for (size_t i = 0; i < w->b->n; i++)
        if (w->b->params[i].info.is_array && !w->b->params[i].info.is_const &&
            !(primal_error(w, &w->model, i, w->out[i]) <= w->tol.primal))
            return true;
    return false;
}

/* Rounding may send the double build down another branch; the build in the file's own precision
 * does not, so it has the last word. */
static void test_primal(work *w, const char *who, void *const *out) {
    rg_check *c = w->c;
    for (size_t i = 0; i < w->b->n; i++) {
        rg_check_cell *to = &w->report->rows[i].primal;
        if (!w->b->params[i].info.is_array || w->b->params[i].info.is_const)
            continue;
        double error = primal_error(w, &w->model, i, out[i]);
        if (!(error <= w->tol.primal)) {
            if (!c->plain->ready && !c->plain->why_not)
                rg_check_build_new(c->args, c->bindings, c->n_bindings, false, c->plain);
            rg_model own;
            if (c->plain->ready && rg_model_new(c->plain, w->b, &own)) {
                rg_model_load(&own);
                if (!rg_model_probe(&own)) {
                    rg_model_run(&own);
                    error = fmin(error, primal_error(w, &own, i, out[i]));
                    w->diverged = true;
                }
                rg_model_free(&own);
            }
        }
        rg_check_test(to, error, w->tol.primal,
                      rg_cli_format("%s and the C compiler's build do not agree", who));
    }
}

/* ---- inputs ---- */

typedef enum inputs { INPUTS_GOOD, INPUTS_POOR, INPUTS_BAD, INPUTS_WRONG } inputs;

static rg_status run_reference(work *w, const char **why) {
    void **other = rg_check_room(w->b->n, sizeof *other);
    rg_status st = run_primal(w->c->reference, w->b, other, why);
    for (size_t i = 0; i < w->b->n; i++)
        free(other[i]);
    free(other);
    return st;
}

/* Runs the primal everywhere with what is drawn now. POOR: it ran, but shows little. */
static inputs try_inputs(work *w, const char **why, bool last) {
    rg_check *c = w->c;
    size_t scalars = 0;
    for (size_t i = 0; i < w->b->n; i++)
        scalars += w->b->params[i].count * w->b->params[i].layout.n;
    bool refers = c->reference && scalars <= AFFORDABLE;
    /* A device that does not check bounds sees only inputs that are known to keep them. */
    bool first = refers && c->device->unchecked;
    rg_status st = first ? run_reference(w, why) : RG_OK;
    if (st == RG_OK)
        st = run_primal(c->device, w->b, w->out, why);
    if (st == RG_OK && refers && !first)
        st = run_reference(w, why);
    if (st == RG_ERROR_FAULT)
        return INPUTS_BAD;
    if (st != RG_OK)
        return INPUTS_WRONG;
    bool any = false;
    for (size_t i = 0; i < w->b->n; i++)
        any = any || changed(w->b, w->out, i);
    if (!last && (!any || !all_finite(w->b, w->out)))
        return INPUTS_POOR;
    if (c->fine->ready) {
        w->has_model = rg_model_new(c->fine, w->b, &w->model);
        if (w->has_model) {
            rg_model_load(&w->model);
            *why = rg_model_probe(&w->model);
            if (*why)
                return INPUTS_BAD;
            rg_model_run(&w->model);
            if (!last && differs(w))
                return INPUTS_POOR;
        }
    }
    return INPUTS_GOOD;
}

/* Finds inputs. False: the report says why there are none. */
static bool find_inputs(work *w, const bool *fixed, uint64_t round) {
    bool drawn = rg_check_any_drawn(w->b, fixed);
    int manners = drawn ? RG_DRAW_MANNERS : 1, poor = -1;
    const char *why = NULL, *first = NULL, *first_inputs = "";
    for (int m = 0; m <= manners; m++) {
        bool last = m == manners; /* each round starts with another manner */
        int manner = last ? poor : (m + (int)round) % manners;
        if (last && poor < 0)
            break;
        work_clear(w);
        if (!rg_check_draw(w->b, fixed, manner, w->seed + round * 1000)) {
            if (rg_cli_problem_count())
                return false;
            continue;
        }
        inputs got = try_inputs(w, &why, last || !drawn);
        w->report->inputs = rg_check_drawn_text(w->b, fixed);
        if (got == INPUTS_GOOD)
            return true;
        if (got == INPUTS_WRONG) {
            rg_check_note(&w->report->whole, RG_CHECK_FAIL, 0, why);
            return false;
        }
        if (got == INPUTS_POOR && poor < 0)
            poor = manner;
        if (got == INPUTS_BAD && !first) {
            first = why;
            first_inputs = w->report->inputs;
        }
    }
    w->report->inputs = first_inputs;
    rg_check_note(
        &w->report->whole, RG_CHECK_FAIL, 0,
        !first  ? "no shapes fit its extents: give NAME=VALUE"
        : drawn ? rg_cli_format("%s (with drawn inputs%s%s; give NAME=VALUE for what it needs)",
                                first, *first_inputs ? ": " : "", first_inputs)
                : first);
    return false;
}

/* ---- adjoint, tangent, differences ---- */

static rg_status run_adjoint(work *w) {
    rg_record *record = NULL;
    rg_status st = rg_cli_launch_reset(&w->launch);
    for (size_t i = 0; st == RG_OK && i < w->b->n; i++)
        if (w->weight[i]) {
            const rg_cli_param *p = &w->b->params[i];
            void *items = rg_check_room(p->count, p->info.item_size);
            rg_check_floats_set(p, items, w->weight[i]);
            st = rg_cli_launch_set_gradient(&w->launch, i, items);
            free(items);
        }
    if (st == RG_OK)
        st = rg_record_launch(w->launch.kernel, w->launch.args, w->b->n, &record);
    if (st == RG_OK)
        st = rg_backward(record);
    if (st == RG_OK)
        st = rg_sync(w->c->device->dev);
    if (record)
        rg_record_release(record);
    for (size_t i = 0; st == RG_OK && i < w->b->n; i++) {
        const rg_cli_param *p = &w->b->params[i];
        if (p->info.is_array)
            st = rg_cli_launch_get_data(&w->launch, i, w->out[i]);
        if (st != RG_OK || !p->info.has_float)
            continue;
        void *items = rg_check_room(p->count, p->info.item_size);
        st = rg_cli_launch_get_gradient(&w->launch, i, items);
        w->grad[i] = rg_check_room(rg_check_floats(p), sizeof(double));
        rg_check_floats_get(p, items, w->grad[i]);
        free(items);
    }
    return st;
}

/* <y, J v> of the device with v in parameter i; *scale: size of what was summed. */
static rg_status run_tangent(work *w, size_t i, double *v, double *sum, double *scale) {
    const rg_cli_param *p = &w->b->params[i];
    void *items = rg_check_room(p->count, p->info.item_size);
    rg_check_floats_set(p, items, v);
    rg_status st = rg_cli_launch_reset(&w->launch);
    if (st == RG_OK)
        st = rg_cli_launch_set_gradient(&w->launch, i, items);
    free(items);
    if (st == RG_OK)
        st = rg_launch_tangent(w->launch.kernel, w->launch.args, w->b->n);
    if (st == RG_OK)
        st = rg_sync(w->c->device->dev);
    *sum = *scale = 0;
    for (size_t j = 0; st == RG_OK && j < w->b->n; j++) {
        const rg_cli_param *q = &w->b->params[j];
        if (!w->weight[j])
            continue;
        size_t n = rg_check_floats(q);
        double *dot = rg_check_room(n, sizeof *dot);
        items = rg_check_room(q->count, q->info.item_size);
        st = rg_cli_launch_get_gradient(&w->launch, j, items);
        rg_check_floats_get(q, items, dot);
        for (size_t c = 0; c < n; c++)
            if (w->weight[j][c] != 0) {
                double term = w->weight[j][c] * dot[c];
                *sum += term;
                *scale += term * term;
            }
        free(items);
        free(dot);
    }
    *scale = sqrt(*scale);
    return st;
}

static const char odd_note[] = "the kernel gives inf or nan on these inputs: give others, "
                               "NAME=VALUE";

static void test_tangent(work *w, size_t i, rg_cli_rng *r) {
    rg_check_row *row = &w->report->rows[i];
    size_t n = rg_check_floats(&w->b->params[i]);
    double *v = rg_check_room(n, sizeof *v), sum, scale, here = 0, size = 0;
    for (size_t c = 0; c < n; c++)
        v[c] = rg_cli_rng_normal(r);
    rg_status st = run_tangent(w, i, v, &sum, &scale);
    if (st != RG_OK) {
        rg_check_note(&row->tangent, RG_CHECK_FAIL, NAN,
                      rg_cli_format("the tangent failed: %s", rg_check_message(w->c->device, st)));
        free(v);
        return;
    }
    for (size_t c = 0; c < n; c++) {
        here += w->grad[i][c] * v[c];
        size += (w->grad[i][c] * v[c]) * (w->grad[i][c] * v[c]);
    }
    scale = fmax(scale, sqrt(size));
    double off = fabs(sum - here);
    if (w->odd && !isfinite(off))
        rg_check_note(&row->tangent, RG_CHECK_SKIP, 0, odd_note);
    else
        rg_check_test(&row->tangent, sum == here ? 0 : off / scale, w->tol.tangent,
                      rg_cli_format("tangent %.9g, adjoint %.9g", sum, here));
    free(v);
}

/* One direction. single: the index of the only scalar in it, or n. */
static void test_direction(work *w, size_t i, const double *v, size_t single, double y) {
    const rg_cli_param *p = &w->b->params[i];
    rg_check_cell *to = &w->report->rows[i].difference;
    size_t n = rg_check_floats(p);
    rg_model_slope d = rg_model_derivative(&w->model, i, v, (const double *const *)w->weight);
    double here = 0, size = 0;
    for (size_t c = 0; c < n; c++) {
        here += w->grad[i][c] * v[c];
        size += (w->grad[i][c] * v[c]) * (w->grad[i][c] * v[c]);
    }
    const char *where =
        single == n ? "along a random direction" : rg_cli_format("at scalar %zu", single);
    if (w->odd && !isfinite(here)) {
        rg_check_note(to, RG_CHECK_SKIP, 0, odd_note);
        return;
    }
    if (!d.finite) {
        rg_check_note(to, RG_CHECK_SKIP, 0, rg_cli_format("%s: no finite difference", where));
        return;
    }
    double scale = fmax(
        fmax(fabs(d.value), sqrt(size)),
        fmax(1e-2 * rg_check_largest(w->grad[i], n) * rg_check_largest(v, n), w->tol.floor * y));
    double off = fabs(here - d.value), error = off == 0 ? 0 : off / scale;
    bool steep = fabs(here) > d.steepest && d.error > 1e-6 * fabs(d.value);
    bool unsure = d.error > 1e-2 * scale || steep;
    if (error <= w->tol.difference) {
        rg_check_note(to, RG_CHECK_PASS, error, NULL);
    } else if (isfinite(here) && (d.kink || unsure)) {
        rg_check_row *row = &w->report->rows[i];
        w->kinks++;
        if (row->kinks++ == 0)
            row->kink = rg_cli_format("%s %s: left %.6g, right %.6g, adjoint %.6g",
                                      steep    ? "too steep for differences"
                                      : d.kink ? "a kink"
                                               : "not smooth",
                                      where, d.left, d.right, here);
        rg_check_note(to, RG_CHECK_SKIP, error, NULL);
    } else if (error <= w->tol.difference + 4 * d.error / scale) {
        rg_check_note(to, RG_CHECK_PASS, error, NULL);
    } else {
        const char *zero =
            rg_check_largest(w->grad[i], n) == 0 ? "the whole gradient is zero: " : "";
        rg_check_note(
            to, RG_CHECK_FAIL, error,
            rg_cli_format("%s%s: difference %.9g, adjoint %.9g", zero, where, d.value, here));
    }
}

static void test_differences(work *w, size_t i, rg_cli_rng *r) {
    size_t n = rg_check_floats(&w->b->params[i]);
    double *v = rg_check_room(n, sizeof *v), y = 0;
    for (size_t j = 0; j < w->b->n; j++)
        if (w->weight[j])
            y = fmax(y, rg_check_largest(w->weight[j], rg_check_floats(&w->b->params[j])));
    for (int k = 0; k < DIRECTIONS && n > 1; k++) {
        for (size_t c = 0; c < n; c++)
            v[c] = rg_cli_rng_normal(r);
        test_direction(w, i, v, n, y);
    }
    memset(v, 0, n * sizeof *v);
    size_t singles = n <= EVERY ? n : SAMPLES;
    for (size_t k = 0; k < singles; k++) {
        size_t c = n <= EVERY ? k : (size_t)rg_cli_rng_below(r, n);
        v[c] = 1;
        test_direction(w, i, v, c, y);
        v[c] = 0;
    }
    free(v);
}

static void evaluate(work *w, uint64_t round) {
    rg_check *c = w->c;
    rg_cli_rng r = {rg_cli_hash(w->b->name) ^ (w->seed + 77 + round)};
    rg_kernel *k = NULL;
    rg_status st = rg_module_kernel(c->device->mod, w->b->name, &k);
    w->odd = !all_finite(w->b, w->out);
    if (w->has_model)
        test_primal(w, "the device", w->out);
    for (size_t i = 0; i < w->b->n; i++) {
        size_t n = rg_check_floats(&w->b->params[i]);
        if (!w->b->params[i].info.has_float || !changed(w->b, w->out, i))
            continue; /* what is only read: its own weight would only add to both sides */
        w->weight[i] = rg_check_room(n, sizeof(double));
        /* An output that is not finite has no gradient to speak of; its zero weight must also
         * keep it out of all others. */
        rg_check_floats_get(&w->b->params[i], w->out[i], w->weight[i]);
        for (size_t e = 0; e < n; e++)
            w->weight[i][e] = isfinite(w->weight[i][e]) ? rg_cli_rng_normal(&r) : 0;
    }
    bool any = false;
    for (size_t i = 0; i < w->b->n; i++)
        any = any || w->weight[i];
    if (!any)
        rg_check_note(&w->report->whole, RG_CHECK_SKIP, 0,
                      "it changes no floats on these inputs: all its gradients are zero");
    if (st == RG_OK)
        st = rg_cli_launch_new(k, w->b, true, &w->launch);
    if (st == RG_OK)
        st = run_adjoint(w);
    if (st != RG_OK) {
        rg_check_note(&w->report->whole, RG_CHECK_FAIL, 0,
                      rg_cli_format("the adjoint failed: %s", rg_check_message(c->device, st)));
        return;
    }
    if (w->has_model)
        test_primal(w, "the recorded launch", w->out);
    for (size_t i = 0; i < w->b->n; i++) {
        rg_check_row *row = &w->report->rows[i];
        size_t n = rg_check_floats(&w->b->params[i]), set = 0;
        if (!w->b->params[i].info.has_float || !w->grad[i])
            continue;
        for (size_t e = 0; e < n; e++)
            set += w->grad[i][e] != 0;
        row->has_gradient = true;
        row->nonzero = n ? (double)set / (double)n : 0;
        rg_cli_progress("checking %s: %s", w->b->name, w->b->params[i].info.name);
        test_tangent(w, i, &r);
        if (w->has_model && w->diverged)
            rg_check_note(&row->difference, RG_CHECK_SKIP, 0,
                          "rounding takes the double build another way: give inputs that are less "
                          "sensitive");
        else if (w->has_model)
            test_differences(w, i, &r);
        else
            rg_check_note(&row->difference, RG_CHECK_SKIP, 0, c->fine->why_not);
        if (c->args->second_order) {
            rg_check_second s = {c->device, &w->launch, w->b, w->weight, w->grad, c->says_float};
            rg_check_second_order(&s, i, &r, row);
        }
    }
    rg_cli_progress(NULL);
}

static void new_rows(work *w) {
    w->report->whole = (rg_check_cell){RG_CHECK_NONE, 0, NULL};
    for (size_t i = 0; i < w->b->n; i++)
        w->report->rows[i] = (rg_check_row){.param = w->b->params[i].info.name};
}

bool rg_check_kernel(rg_check *c, rg_cli_binding *b, rg_check_report *report) {
    work w = {.c = c, .b = b, .report = report, .tol = tolerance_of(c, b), .seed = c->args->seed};
    *report = (rg_check_report){.kernel = b->name, .n = b->n, .inputs = ""};
    report->rows = rg_cli_alloc(b->n, sizeof *report->rows);
    w.out = rg_cli_alloc(b->n, sizeof *w.out);
    w.weight = rg_cli_alloc(b->n, sizeof *w.weight);
    w.grad = rg_cli_alloc(b->n, sizeof *w.grad);
    bool *fixed = rg_cli_alloc(b->n, sizeof *fixed);
    rg_check_mark_given(b, fixed);
    bool drawn = rg_check_any_drawn(b, fixed);
    for (uint64_t round = 0; round < REDRAWS; round++) {
        new_rows(&w);
        w.kinks = 0;
        w.diverged = false;
        if (!find_inputs(&w, fixed, round))
            break;
        evaluate(&w, round);
        if (!w.kinks || !drawn)
            break;
    }
    work_clear(&w);
    if (c->fine->why_not && !c->fine->no_compiler && report->whole.state != RG_CHECK_FAIL)
        rg_check_note(
            &report->whole, RG_CHECK_FAIL, 0,
            rg_cli_format("no differences: the C compiler does not take the file with float as "
                          "double: %s",
                          c->fine->why_not));
    return rg_cli_problem_count() == 0;
}
