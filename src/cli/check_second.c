/* With g(x) the gradient of the weighted outputs, v random in one parameter and u in all: both
 * orders of second differentiation give H v, and <u, H v> must be the derivative of <u, g> along v.
 *
 * Differences are of gradients that the device computes in its own precision, so they have few
 * digits: steps go down a ladder, each with a better value by Richardson's extrapolation and an
 * estimate of its error, rounding included, and the one with the smallest estimate is taken. Where
 * even that is too large to decide, or the gradient has a kink, the test is skipped. */
#include "check_second.h"

#include "check_floats.h"
#include "dtype.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct limits {
    double difference, orders, epsilon, step;
} limits;

static const limits for_half = {1e-1, 5e-2, 1e-3, 1e-1};
static const limits for_float = {1e-2, 5e-4, FLT_EPSILON, 1e-1};
static const limits for_double = {1e-5, 1e-8, DBL_EPSILON, 1e-2};

static const limits *limits_of(const rg_cli_binding *b, bool says_float) {
    const limits *l = says_float ? &for_float : &for_double;
    for (size_t i = 0; i < b->n; i++)
        for (size_t f = 0; f < b->params[i].layout.n; f++) {
            rg_dtype t = b->params[i].layout.fields[f].dtype;
            if (t == RG_DTYPE_F16)
                return &for_half;
            if (t == RG_DTYPE_F32)
                l = &for_float;
        }
    return l;
}

/* Zeros everywhere but for the incoming gradients. */
static rg_status begin(const rg_check_second *s) {
    rg_status st = rg_cli_launch_reset(s->launch);
    for (size_t i = 0; st == RG_OK && i < s->b->n; i++) {
        const rg_cli_param *p = &s->b->params[i];
        if (!s->weight[i])
            continue;
        void *items = rg_check_room(p->count, p->info.item_size);
        rg_check_floats_set(p, items, s->weight[i]);
        st = rg_cli_launch_set_gradient(s->launch, i, items);
        free(items);
    }
    return st;
}

/* <u, what get reads>, and the root of the sum of the terms' squares. */
typedef rg_status get_fn(rg_cli_launch *l, size_t i, void *to);

static rg_status get_product(rg_cli_launch *l, size_t i, void *to) {
    return rg_cli_launch_get_direction(l, i, true, to);
}

static rg_status weigh(const rg_check_second *s, double *const *u, get_fn *get, double *sum,
                       double *size) {
    rg_status st = rg_sync(s->device->dev);
    *sum = *size = 0;
    for (size_t i = 0; st == RG_OK && i < s->b->n; i++) {
        const rg_cli_param *p = &s->b->params[i];
        if (!u[i])
            continue;
        size_t n = rg_check_floats(p);
        void *items = rg_check_room(p->count, p->info.item_size);
        double *v = rg_check_room(n, sizeof *v);
        st = get(s->launch, i, items);
        rg_check_floats_get(p, items, v);
        for (size_t c = 0; c < n; c++) {
            *sum += u[i][c] * v[c];
            *size += u[i][c] * v[c] * u[i][c] * v[c];
        }
        free(items);
        free(v);
    }
    *size = sqrt(*size);
    return st;
}

static rg_status run_adjoint(const rg_check_second *s, double *const *u, double *sum,
                             double *size) {
    rg_record *record = NULL;
    rg_status st = begin(s);
    if (st == RG_OK)
        st = rg_record_launch(s->launch->kernel, s->launch->args, s->b->n, &record);
    if (st == RG_OK)
        st = rg_backward(record);
    if (st == RG_OK)
        st = weigh(s, u, rg_cli_launch_get_gradient, sum, size);
    if (record)
        rg_record_release(record);
    return st;
}

static rg_status run_second(const rg_check_second *s, bool reversed, size_t i, double *v,
                            double *const *u, double *sum, double *size) {
    const rg_cli_param *p = &s->b->params[i];
    rg_cli_launch *l = s->launch;
    void *items = rg_check_room(p->count, p->info.item_size);
    rg_check_floats_set(p, items, v);
    rg_status st = l->directions ? RG_OK : rg_cli_launch_directions(l);
    for (size_t k = 0; st == RG_OK && k < s->b->n; k++) {
        if (l->directions[k].tangent)
            st = rg_array_fill_zero(l->directions[k].tangent, RG_DATA);
        if (st == RG_OK && l->directions[k].product)
            st = rg_array_fill_zero(l->directions[k].product, RG_DATA);
    }
    if (st == RG_OK)
        st = rg_array_write(l->directions[i].tangent, RG_DATA, items, p->count * p->info.item_size);
    free(items);
    if (st == RG_OK)
        st = begin(s);
    if (st == RG_OK)
        st =
            (reversed ? rg_adjoint_of_tangent : rg_hvp)(l->kernel, l->args, l->directions, s->b->n);
    return st == RG_OK ? weigh(s, u, get_product, sum, size) : st;
}

/* <u, g> at the inputs moved by step v. */
static rg_status moved(const rg_check_second *s, size_t i, const double *v, double step,
                       double *const *u, double *sum, double *size) {
    const rg_cli_param *p = &s->b->params[i];
    size_t n = rg_check_floats(p), bytes = p->count * p->info.item_size;
    double *x = rg_check_room(n, sizeof *x);
    void *before = rg_check_room(bytes, 1);
    memcpy(before, p->data, bytes);
    rg_check_floats_get(p, p->data, x);
    for (size_t c = 0; c < n; c++)
        x[c] += step * v[c];
    rg_check_floats_set(p, p->data, x);
    rg_status st = run_adjoint(s, u, sum, size);
    memcpy(p->data, before, bytes);
    free(before);
    free(x);
    return st;
}

typedef struct slope {
    double value, error;
    bool finite, kink;
} slope;

static rg_status differences(const rg_check_second *s, size_t i, const double *v, double *const *u,
                             const limits *l, double *unit, slope *out) {
    const rg_cli_param *p = &s->b->params[i];
    size_t n = rg_check_floats(p);
    double *x = rg_check_room(n, sizeof *x), here, size;
    rg_check_floats_get(p, p->data, x);
    *unit = fmax(rg_check_largest(x, n), 1e-2) / fmax(rg_check_largest(v, n), 1e-30);
    free(x);
    rg_status st = run_adjoint(s, u, &here, &size);
    double bend_before = -1;
    *out = (slope){.error = HUGE_VAL};
    for (int k = 0; st == RG_OK && k < 6; k++) {
        double h = *unit * l->step * pow(0.25, k), y[4], noise = 0;
        const double steps[4] = {h, -h, h / 2, -h / 2};
        for (int q = 0; st == RG_OK && q < 4; q++) {
            st = moved(s, i, v, steps[q], u, &y[q], &size);
            noise = fmax(noise, size);
        }
        double c = (y[0] - y[1]) / (2 * h), c2 = (y[2] - y[3]) / h, value = (4 * c2 - c) / 3;
        double error = fabs(c2 - c) / 3 + 4 * l->epsilon * noise / h;
        if (st != RG_OK || !isfinite(value))
            continue;
        out->finite = true;
        /* One-sided differences of a smooth gradient come together as the step shrinks. */
        double bend = 2 * fabs(y[2] + y[3] - 2 * here) / h;
        bool real = bend > 100 * l->epsilon * noise / h && bend > 1e-2 * fabs(value);
        out->kink |= bend_before >= 0 && real && bend > 0.5 * bend_before;
        bend_before = bend;
        if (error < out->error) {
            out->value = value;
            out->error = error;
        }
    }
    return st;
}

static void judge(rg_check_cell *to, double here, const slope *d, double scale, const limits *l,
                  const char *order) {
    double off = fabs(here - d->value), error = off == 0 ? 0 : off / scale;
    if (error <= l->difference || error <= l->difference + 4 * d->error / scale)
        rg_check_note(to, d->error > 1e-1 * scale ? RG_CHECK_SKIP : RG_CHECK_PASS, error,
                      d->error > 1e-1 * scale ? "differences of gradients are too rough here"
                                              : NULL);
    else if (!d->finite || d->kink)
        rg_check_note(to, RG_CHECK_SKIP, error,
                      d->finite ? "the gradient has a kink here" : "no finite difference");
    else
        rg_check_note(
            to, RG_CHECK_FAIL, error,
            rg_cli_format("difference of gradients %.9g, %s %.9g", d->value, order, here));
}

void rg_check_second_order(const rg_check_second *s, size_t i, rg_cli_rng *r, rg_check_row *row) {
    static const char *const names[] = {"tangent of adjoint", "adjoint of tangent"};
    const limits *l = limits_of(s->b, s->says_float);
    size_t n = rg_check_floats(&s->b->params[i]);
    double *v = rg_check_room(n, sizeof *v), **u = rg_check_room(s->b->n, sizeof *u);
    double value[2] = {0}, size[2] = {0}, first = 0, unit = 1;
    for (size_t c = 0; c < n; c++)
        v[c] = rg_cli_rng_normal(r);
    for (size_t k = 0; k < s->b->n; k++) {
        size_t m = s->grad[k] ? rg_check_floats(&s->b->params[k]) : 0;
        u[k] = m ? rg_check_room(m, sizeof **u) : NULL;
        for (size_t c = 0; c < m; c++) {
            u[k][c] = rg_cli_rng_normal(r);
            first += u[k][c] * s->grad[k][c] * u[k][c] * s->grad[k][c];
        }
    }
    slope d;
    rg_status st = RG_OK;
    for (int q = 0; q < 2 && st == RG_OK; q++)
        st = run_second(s, q, i, v, u, &value[q], &size[q]);
    if (st == RG_OK)
        st = differences(s, i, v, u, l, &unit, &d);
    if (st != RG_OK) {
        rg_check_note(&row->hvp, RG_CHECK_FAIL, NAN,
                      rg_cli_format("second order failed: %s", rg_check_message(s->device, st)));
    } else if (!isfinite(value[0]) || !isfinite(value[1])) {
        rg_check_note(&row->hvp, RG_CHECK_SKIP, 0, "a second derivative is inf or nan here");
    } else {
        /* Where there is none, what rounding leaves of the first derivative is no fault. */
        double scale = fmax(fmax(size[0], size[1]), 1e-2 * sqrt(first) / unit);
        double off = fabs(value[0] - value[1]);
        for (int q = 0; q < 2; q++)
            judge(&row->hvp, value[q], &d, fmax(scale, fabs(d.value)), l, names[q]);
        rg_check_test(&row->orders, off == 0 ? 0 : off / scale, l->orders,
                      rg_cli_format("%s %.9g, %s %.9g", names[0], value[0], names[1], value[1]));
    }
    for (size_t k = 0; k < s->b->n; k++)
        free(u[k]);
    free(u);
    free(v);
}
