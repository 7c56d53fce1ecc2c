/* Differences are taken of the weighted sum of outputs, output by output, so that large outputs
 * that do not change cancel exactly. Steps go down a ladder; each gives a central difference, a
 * better one by Richardson's extrapolation from half the step, and an estimate of its error; the
 * one with the smallest estimate is taken. */
#include "check_model.h"

#include "dtype.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

static size_t bytes_of(const rg_model *m, size_t i) {
    size_t n = m->binding->params[i].count * m->params[i].item_size;
    return n ? n : 1;
}

bool rg_model_new(const rg_check_build *build, const rg_cli_binding *b, rg_model *m) {
    *m = (rg_model){build, b, rg_check_build_call(build, b->name), NULL, NULL};
    if (!m->call)
        return false;
    m->params = rg_cli_alloc(b->n, sizeof *m->params);
    m->args = rg_cli_alloc(b->n, sizeof *m->args);
    for (size_t i = 0; i < b->n; i++) {
        const rg_cli_layout *l = &b->params[i].layout;
        rg_model_param *p = &m->params[i];
        p->offsets = rg_cli_alloc(l->n, sizeof *p->offsets);
        p->floats = rg_cli_alloc(l->n, sizeof *p->floats);
        for (size_t f = 0; f < l->n; f++)
            if (rg_cli_dtype_is_float(l->fields[f].dtype))
                p->floats[p->n_floats++] = f;
        rg_check_build_layout(build, b, i, &p->item_size, p->offsets);
        if (!p->item_size)
            return false;
        p->base = calloc(1, bytes_of(m, i));
        for (int k = 0; k < 3; k++)
            p->out[k] = calloc(1, bytes_of(m, i));
        if (!p->base || !p->out[0] || !p->out[1] || !p->out[2])
            return false;
    }
    return true;
}

void rg_model_free(rg_model *m) {
    for (size_t i = 0; m->params && i < m->binding->n; i++) {
        free(m->params[i].base);
        for (int k = 0; k < 3; k++)
            free(m->params[i].out[k]);
    }
    m->params = NULL;
}

size_t rg_model_floats(const rg_model *m, size_t i) {
    return m->binding->params[i].count * m->params[i].n_floats;
}

/* The type that field f of parameter i has in this build. */
static rg_dtype type_of(const rg_model *m, size_t i, size_t f) {
    rg_dtype t = m->binding->params[i].layout.fields[f].dtype;
    return m->build->as_double && rg_cli_dtype_is_float(t) ? RG_DTYPE_F64 : t;
}

void rg_model_load(rg_model *m) {
    for (size_t i = 0; i < m->binding->n; i++) {
        const rg_cli_param *from = &m->binding->params[i];
        rg_model_param *p = &m->params[i];
        for (size_t e = 0; e < from->count; e++)
            for (size_t f = 0; f < from->layout.n; f++) {
                const rg_field_info *field = &from->layout.fields[f];
                const unsigned char *s =
                    (const unsigned char *)from->data + e * from->info.item_size + field->offset;
                unsigned char *to = p->base + e * p->item_size + p->offsets[f];
                rg_dtype t = type_of(m, i, f);
                if (t == field->dtype)
                    memcpy(to, s, rg_cli_dtype_size(t));
                else
                    rg_cli_scalar_set(t, to, rg_cli_scalar_get(field->dtype, s));
            }
    }
}

static void run(rg_model *m, int set) {
    for (size_t i = 0; i < m->binding->n; i++)
        m->args[i] = m->params[i].out[set];
    m->call(m->args);
}

static void copy_base(rg_model *m, int set) {
    for (size_t i = 0; i < m->binding->n; i++)
        memcpy(m->params[i].out[set], m->params[i].base, bytes_of(m, i));
}

const char *rg_model_probe(rg_model *m) {
    enum { SECONDS = 60 };
    fflush(NULL);
    pid_t pid = fork();
    int status;
    if (pid < 0)
        return NULL; /* no room for a child: go on without */
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        if (null >= 0) {
            dup2(null, STDERR_FILENO);
            dup2(null, STDOUT_FILENO);
        }
        alarm(SECONDS);
        m->build->stop_mode(RG_CHECK_STOP_PASS);
        copy_base(m, 0);
        run(m, 0);
        _exit(0);
    }
    while (waitpid(pid, &status, 0) < 0) {
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return rg_cli_format("the C compiler's build ran for more than %d seconds", SECONDS);
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        return "the C compiler's build crashed on these inputs";
    return NULL;
}

void rg_model_run(rg_model *m) {
    m->build->stop_mode(RG_CHECK_STOP_KEEP);
    copy_base(m, 0);
    run(m, 0);
    m->build->stop_mode(RG_CHECK_STOP_PASS);
}

double rg_model_get(const rg_model *m, size_t i, size_t e, size_t f) {
    const rg_model_param *p = &m->params[i];
    return rg_cli_scalar_get(type_of(m, i, f), p->out[0] + e * p->item_size + p->offsets[f]);
}

int64_t rg_model_get_int(const rg_model *m, size_t i, size_t e, size_t f) {
    const rg_model_param *p = &m->params[i];
    return rg_cli_scalar_get_int(type_of(m, i, f), p->out[0] + e * p->item_size + p->offsets[f]);
}

/* Float c of parameter i in a buffer of this build. */
static void *float_at(const rg_model *m, size_t i, unsigned char *buffer, size_t c) {
    const rg_model_param *p = &m->params[i];
    return buffer + (c / p->n_floats) * p->item_size + p->offsets[p->floats[c % p->n_floats]];
}

static double float_get(const rg_model *m, size_t i, unsigned char *buffer, size_t c) {
    double v;
    memcpy(&v, float_at(m, i, buffer, c), sizeof v);
    return v;
}

/* Runs at base + step * direction into a set. */
static bool run_moved(rg_model *m, int set, size_t i, const double *direction, double step) {
    copy_base(m, set);
    for (size_t c = 0; c < rg_model_floats(m, i); c++) {
        void *at = float_at(m, i, m->params[i].out[set], c);
        double v;
        memcpy(&v, at, sizeof v);
        v += step * direction[c];
        memcpy(at, &v, sizeof v);
    }
    m->build->stop_mode(RG_CHECK_STOP_REPLAY);
    run(m, set);
    bool ok = !m->build->stop_mismatch();
    m->build->stop_mode(RG_CHECK_STOP_PASS);
    return ok;
}

/* Weighted difference of outputs in two sets; magnitude: the sum of what took part. A by-value
 * parameter is no output. */
static double difference(rg_model *m, int plus, int minus, const double *const *weights,
                         double *magnitude) {
    double sum = 0, lost = 0, all = 0;
    for (size_t j = 0; j < m->binding->n; j++) {
        if (!m->binding->params[j].info.is_array || !weights[j])
            continue;
        for (size_t c = 0; c < rg_model_floats(m, j); c++) {
            double a = float_get(m, j, m->params[j].out[plus], c);
            double b = float_get(m, j, m->params[j].out[minus], c);
            double w = weights[j][c];
            if (w == 0)
                continue;
            double term = w * (a - b) - lost, next = sum + term; /* Kahan */
            lost = (next - sum) - term;
            sum = next;
            all += fabs(w * a);
        }
    }
    *magnitude = all;
    return sum;
}

typedef struct step {
    bool ok;
    double central, left, right, noise;
} step;

static step take_step(rg_model *m, size_t i, const double *direction, const double *const *weights,
                      double h) {
    double size_a, size_b, size_c;
    step s;
    s.ok = run_moved(m, 1, i, direction, h);
    s.ok = run_moved(m, 2, i, direction, -h) && s.ok;
    s.central = difference(m, 1, 2, weights, &size_a) / (2 * h);
    s.right = difference(m, 1, 0, weights, &size_b) / h;
    s.left = difference(m, 0, 2, weights, &size_c) / h;
    s.noise = 4 * DBL_EPSILON * size_a / h;
    s.ok = s.ok && isfinite(s.central) && isfinite(s.left) && isfinite(s.right);
    return s;
}

static void keep(rg_model_slope *best, const rg_model_slope *s) {
    best->value = s->value;
    best->error = s->error;
    best->left = s->left;
    best->right = s->right;
}

rg_model_slope rg_model_derivative(rg_model *m, size_t i, const double *direction,
                                   const double *const *weights) {
    double point = 0, length = 0;
    rg_model_slope r = {.error = HUGE_VAL};
    for (size_t c = 0; c < rg_model_floats(m, i); c++) {
        point = fmax(point, fabs(float_get(m, i, m->params[i].base, c)));
        length = fmax(length, fabs(direction[c]));
    }
    if (length == 0) {
        r.error = 0;
        r.finite = true;
        return r;
    }
    double unit = fmax(point, 1e-2) / length;
    double gap_before = -1;
    rg_model_slope before = {.error = HUGE_VAL};
    for (double h = unit * 1e-2; h > unit * 1e-8; h *= 0.1) {
        step whole = take_step(m, i, direction, weights, h);
        step half = take_step(m, i, direction, weights, h / 2);
        if (!whole.ok || !half.ok)
            continue;
        double value = (4 * half.central - whole.central) / 3;
        double error = fabs(half.central - whole.central) / 3 + half.noise;
        double scale = fmax(fabs(half.left), fabs(half.right));
        double gap = fabs(half.left - half.right);
        r.finite = true;
        r.steepest = 2 * half.noise / (4 * DBL_EPSILON) * h / (unit * 1e-8);
        /* The next smaller step must confirm a value: a staircase looks smooth to steps that are
         * as long as its own. */
        before.error = fmax(before.error, fabs(before.value - value) - error);
        if (before.error < r.error)
            keep(&r, &before);
        before = (rg_model_slope){value, error, 0, half.left, half.right, false, true};
        /* A smooth function's gap is ten times smaller at each step; a kink's stays. */
        bool real = gap > 1e-3 * scale && gap > 100 * half.noise;
        if (gap_before >= 0)
            r.kink = real && gap > 0.5 * gap_before;
        if (!r.kink && gap_before >= 0 && r.error <= 1e-8 * fabs(r.value))
            break;
        gap_before = gap;
    }
    if (before.error < r.error)
        keep(&r, &before);
    return r;
}
