/* Runs generated kernels through the library and against gcc's build of the same files.
 *
 * The manifest has a line for each kernel: NAME FILE KIND SEED [PARAM=SPEC ...], KIND being `exact`
 * (the primal must match gcc's bit for bit) or `sums` (it has reductions or float atomics, whose
 * order is open). SPEC: V (a number), mod:N (integers below N) or perm (a permutation).
 * A device is what rg_device_open takes, `cpu+checked` the cpu device in checked mode; `ref` also
 * finds races.
 * The shared library holds NAME_f and NAME_d, the kernel built with real = float and double, both
 * taking an array of pointers.
 *
 * On devices whose functions are not the C library's, a result may be off by what becomes of it
 * when the functions in gcc's build are off by as much as they may be (fuzz_noise, see fuzz.py):
 * nothing where a program uses none.
 *
 * Sums in any order of a float kernel may be off by 1e-3, those of a double kernel by 1e-9, or by
 * what roundings of the inputs do to them in gcc's builds.
 *
 * A kernel passes when, on each device: the float and double primals equal gcc's; the adjoint
 * agrees with the tangent, <g, J x'> = <J^T g, x'>; the adjoint agrees with central differences of
 * gcc's double build; Hessian-vector products in both orders agree with each other and with
 * differences of gradients; and on ref the adjoint is the same with as little tape memory as it can
 * do with. A direction along which one-sided differences disagree has a kink there: it is drawn
 * again. One line of output for each kernel says what happened:
 *
 *     begin NAME
 *     pass NAME share=0.83 [kink]
 *     refused NAME DEVICE WHAT MESSAGE...
 *     fail NAME DEVICE WHAT TEXT...
 */
#include "retrograd.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PARAMS = 24, MAX_SPECS = 32 };

typedef void call_fn(void **);

typedef struct spec {
    char name[64], value[64];
} spec;

typedef struct job {
    char name[64], file[512];
    bool exact;
    uint64_t seed;
    spec specs[MAX_SPECS];
    size_t n_specs;
    call_fn *call[2]; /* float, double */
} job;

/* The scalars of all parameters, flat; the same count for float and double. */
typedef struct param {
    rg_param_info info;
    size_t rank, elements, fields;
    int64_t shape[RG_MAX_RANK];
    rg_field_info *field;
    size_t bytes;
} param;

typedef struct model { /* a kernel with real = float or double, on one device */
    rg_module *module;
    rg_kernel *kernel;
    size_t n;
    param p[MAX_PARAMS];
} model;

typedef struct vec { /* one number for each scalar of each parameter, as double */
    double *at;
    size_t n;
} vec;

static rg_context *ctx;
static uint64_t rng_state;
static char why[2048];
static unsigned long long *noise; /* of gcc's build: 0, none */

static uint64_t rng(void) {
    uint64_t z = (rng_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double unit(void) { /* [-1, 1], exact in float */
    return (double)(float)((double)(rng() >> 40) / 8388608.0 - 1.0);
}

static bool is_float(rg_dtype t) {
    return t == RG_DTYPE_F32 || t == RG_DTYPE_F64;
}

static double get(rg_dtype t, const void *p) {
    switch (t) {
    case RG_DTYPE_F32:
        return (double)*(const float *)p;
    case RG_DTYPE_F64:
        return *(const double *)p;
    case RG_DTYPE_I8:
        return *(const int8_t *)p;
    case RG_DTYPE_BOOL:
    case RG_DTYPE_U8:
        return *(const uint8_t *)p;
    case RG_DTYPE_I16:
        return *(const int16_t *)p;
    case RG_DTYPE_U16:
        return *(const uint16_t *)p;
    case RG_DTYPE_I32:
        return *(const int32_t *)p;
    case RG_DTYPE_U32:
        return *(const uint32_t *)p;
    case RG_DTYPE_I64:
        return (double)*(const int64_t *)p;
    case RG_DTYPE_U64:
        return (double)*(const uint64_t *)p;
    default:
        return 0;
    }
}

static void put(rg_dtype t, void *p, double v) {
    switch (t) {
    case RG_DTYPE_F32:
        *(float *)p = (float)v;
        break;
    case RG_DTYPE_F64:
        *(double *)p = v;
        break;
    case RG_DTYPE_I8:
        *(int8_t *)p = (int8_t)v;
        break;
    case RG_DTYPE_BOOL:
    case RG_DTYPE_U8:
        *(uint8_t *)p = (uint8_t)v;
        break;
    case RG_DTYPE_I16:
        *(int16_t *)p = (int16_t)v;
        break;
    case RG_DTYPE_U16:
        *(uint16_t *)p = (uint16_t)v;
        break;
    case RG_DTYPE_I32:
        *(int32_t *)p = (int32_t)v;
        break;
    case RG_DTYPE_U32:
        *(uint32_t *)p = (uint32_t)v;
        break;
    case RG_DTYPE_I64:
        *(int64_t *)p = (int64_t)v;
        break;
    case RG_DTYPE_U64:
        *(uint64_t *)p = (uint64_t)v;
        break;
    default:
        break;
    }
}

static const spec *find_spec(const job *j, const char *name) {
    for (size_t i = 0; i < j->n_specs; i++)
        if (!strcmp(j->specs[i].name, name))
            return &j->specs[i];
    return NULL;
}

static rg_status model_open(model *m, const job *j, rg_device *dev, bool wide, uint64_t tape) {
    static const char *const names[2] = {"real=float", "real=double"};
    const char *define = names[wide];
    rg_module_options o = {
        .size = sizeof o, .defines = &define, .n_defines = 1, .tape_memory = tape};
    memset(m, 0, sizeof *m);
    rg_status st = rg_module_load(dev, j->file, &o, &m->module);
    if (st == RG_OK)
        st = rg_module_kernel(m->module, j->name, &m->kernel);
    if (st != RG_OK)
        return st;
    m->n = rg_kernel_param_count(m->kernel);
    int64_t values[MAX_PARAMS] = {0};
    bool known[MAX_PARAMS] = {0};
    for (size_t i = 0; i < m->n; i++) {
        param *p = &m->p[i];
        p->info.size = sizeof p->info;
        if ((st = rg_kernel_param(m->kernel, i, &p->info)) != RG_OK)
            return st;
        const spec *s = find_spec(j, p->info.name);
        if (!p->info.is_array && s) {
            known[i] = true;
            values[i] = strtoll(s->value, NULL, 10);
        }
    }
    for (size_t i = 0; i < m->n; i++) {
        param *p = &m->p[i];
        p->elements = 1;
        if (p->info.is_array) {
            p->rank = p->info.rank;
            st = rg_kernel_param_shape(m->kernel, i, values, known, p->shape);
            if (st != RG_OK)
                return st;
            for (size_t a = 0; a < p->rank; a++)
                p->elements *= (size_t)p->shape[a];
        }
        p->bytes = p->elements * p->info.item_size;
        p->fields = rg_kernel_field_count(m->kernel, i);
        p->field = calloc(p->fields + 1, sizeof *p->field);
        for (size_t f = 0; f < p->fields; f++) {
            p->field[f].size = sizeof p->field[f];
            if ((st = rg_kernel_field(m->kernel, i, f, &p->field[f])) != RG_OK)
                return st;
        }
    }
    return RG_OK;
}

static void model_close(model *m) {
    for (size_t i = 0; i < m->n; i++)
        free(m->p[i].field);
    if (m->module)
        rg_module_release(m->module);
}

static size_t model_scalars(const model *m) {
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->p[i].elements * m->p[i].fields;
    return n;
}

/* Which scalars may carry gradients. */
static bool *model_active(const model *m) {
    bool *active = calloc(model_scalars(m) + 1, sizeof *active);
    size_t k = 0;
    for (size_t i = 0; i < m->n; i++)
        for (size_t e = 0; e < m->p[i].elements; e++)
            for (size_t f = 0; f < m->p[i].fields; f++)
                active[k++] = is_float(m->p[i].field[f].dtype);
    return active;
}

static vec vec_new(size_t n) {
    return (vec){calloc(n + 1, sizeof(double)), n};
}

static size_t first_scalar(const model *m, size_t param_index) {
    size_t k = 0;
    for (size_t i = 0; i < param_index; i++)
        k += m->p[i].elements * m->p[i].fields;
    return k;
}

static void *pack(const model *m, size_t i, const double *all) {
    const param *p = &m->p[i];
    unsigned char *b = calloc(1, p->bytes + 16);
    size_t k = first_scalar(m, i);
    for (size_t e = 0; e < p->elements; e++)
        for (size_t f = 0; f < p->fields; f++)
            put(p->field[f].dtype, b + e * p->info.item_size + p->field[f].offset, all[k++]);
    return b;
}

static void unpack(const model *m, size_t i, const void *b, double *all) {
    const param *p = &m->p[i];
    size_t k = first_scalar(m, i);
    for (size_t e = 0; e < p->elements; e++)
        for (size_t f = 0; f < p->fields; f++)
            all[k++] = get(p->field[f].dtype,
                           (const unsigned char *)b + e * p->info.item_size + p->field[f].offset);
}

static vec draw_inputs(const model *m, const job *j) {
    vec v = vec_new(model_scalars(m));
    size_t k = 0;
    for (size_t i = 0; i < m->n; i++) {
        const param *p = &m->p[i];
        const spec *s = find_spec(j, p->info.name);
        bool perm = s && !strcmp(s->value, "perm");
        uint64_t mod = s && !strncmp(s->value, "mod:", 4) ? strtoull(s->value + 4, NULL, 10) : 0;
        size_t start = k;
        for (size_t e = 0; e < p->elements; e++)
            for (size_t f = 0; f < p->fields; f++, k++) {
                if (is_float(p->field[f].dtype))
                    v.at[k] = unit() * 1.25;
                else if (perm)
                    v.at[k] = (double)e;
                else if (mod)
                    v.at[k] = (double)(rng() % mod);
                else if (s)
                    v.at[k] = strtod(s->value, NULL);
                else
                    v.at[k] = (double)(rng() % 5);
                if (is_float(p->field[f].dtype))
                    v.at[k] = (double)(float)v.at[k];
            }
        if (perm)
            for (size_t e = p->elements; e > 1; e--) {
                size_t o = rng() % e;
                double t = v.at[start + e - 1];
                v.at[start + e - 1] = v.at[start + o];
                v.at[start + o] = t;
            }
    }
    return v;
}

/* gcc's build, on copies. */
static void outside(const model *m, call_fn *call, const double *in, double *out) {
    void *args[MAX_PARAMS];
    for (size_t i = 0; i < m->n; i++)
        args[i] = pack(m, i, in);
    call(args);
    for (size_t i = 0; i < m->n; i++) {
        unpack(m, i, args[i], out);
        free(args[i]);
    }
}

typedef struct launch {
    rg_arg args[MAX_PARAMS];
    void *values[MAX_PARAMS];
} launch;

/* seeds: gradients or tangents; NULL: none at all. */
static rg_status launch_open(launch *l, const model *m, const double *in, const double *seeds,
                             bool scalar_seeds) {
    static const int64_t one[1] = {1};
    rg_status st = RG_OK;
    memset(l, 0, sizeof *l);
    for (size_t i = 0; i < m->n && st == RG_OK; i++) {
        const param *p = &m->p[i];
        bool active = seeds && p->info.has_float;
        void *data = pack(m, i, in);
        void *seed = active ? pack(m, i, seeds) : NULL;
        if (p->info.is_array) {
            st = rg_array_for(m->kernel, i, p->rank, p->shape, active, &l->args[i].array);
            if (st == RG_OK)
                st = rg_array_write(l->args[i].array, RG_DATA, data, p->bytes);
            if (st == RG_OK && active)
                st = rg_array_write(l->args[i].array, RG_GRADIENT, seed, p->bytes);
            free(data);
        } else {
            l->values[i] = data;
            l->args[i].value = data;
            if (active)
                st = rg_array_for(m->kernel, i, 1, one, false, &l->args[i].gradient);
            if (active && st == RG_OK && scalar_seeds)
                st = rg_array_write(l->args[i].gradient, RG_DATA, seed, p->bytes);
        }
        free(seed);
    }
    return st;
}

static void launch_close(launch *l, const model *m) {
    for (size_t i = 0; i < m->n; i++) {
        if (l->args[i].array)
            rg_array_release(l->args[i].array);
        if (l->args[i].gradient)
            rg_array_release(l->args[i].gradient);
        free(l->values[i]);
    }
}

static rg_status launch_read(launch *l, const model *m, rg_part part, double *out) {
    rg_status st = RG_OK;
    for (size_t i = 0; i < m->n && st == RG_OK; i++) {
        const param *p = &m->p[i];
        unsigned char *b = calloc(1, p->bytes + 16);
        bool read = false;
        if (l->args[i].array && (part == RG_DATA || rg_array_has_gradient(l->args[i].array))) {
            st = rg_array_read(l->args[i].array, part, b, p->bytes);
            read = true;
        } else if (part == RG_GRADIENT && l->args[i].gradient) {
            st = rg_array_read(l->args[i].gradient, RG_DATA, b, p->bytes);
            read = true;
        } else if (part == RG_DATA && l->values[i]) {
            memcpy(b, l->values[i], p->bytes);
            read = true;
        }
        if (st == RG_OK && read)
            unpack(m, i, b, out);
        free(b);
    }
    return st;
}

typedef enum mode { PRIMAL, ADJOINT, TANGENT } mode;

static rg_status run_mode(const model *m, rg_device *dev, mode how, const double *in,
                          const double *seeds, double *data, double *grads) {
    launch l;
    rg_record *r = NULL;
    rg_status st = launch_open(&l, m, in, how == PRIMAL ? NULL : seeds, how == TANGENT);
    if (st == RG_OK && how == PRIMAL)
        st = rg_launch(m->kernel, l.args, m->n);
    if (st == RG_OK && how == TANGENT)
        st = rg_launch_tangent(m->kernel, l.args, m->n);
    if (st == RG_OK && how == ADJOINT) {
        st = rg_record_launch(m->kernel, l.args, m->n, &r);
        if (st == RG_OK)
            st = rg_backward(r);
    }
    if (st == RG_OK)
        st = rg_sync(dev);
    if (st == RG_OK)
        st = launch_read(&l, m, RG_DATA, data);
    if (st == RG_OK && how != PRIMAL)
        st = launch_read(&l, m, RG_GRADIENT, grads);
    snprintf(why, sizeof why, "%s: %s", rg_status_name(st), rg_context_message(ctx));
    if (r)
        rg_record_release(r);
    launch_close(&l, m);
    return st;
}

/* Hessian-vector products in either order: gradients and products. */
static rg_status run_second(const model *m, bool reversed, const double *in, const double *seeds,
                            const double *dirs, double *grads, double *products) {
    launch l, d = {0}, h = {0};
    double *zeros = calloc(model_scalars(m) + 1, sizeof *zeros);
    rg_direction along[MAX_PARAMS] = {{0}};
    rg_status st = launch_open(&l, m, in, seeds, false);
    if (st == RG_OK)
        st = launch_open(&d, m, dirs, dirs, true);
    if (st == RG_OK)
        st = launch_open(&h, m, zeros, zeros, true);
    for (size_t i = 0; i < m->n && st == RG_OK; i++) {
        if (!m->p[i].info.has_float)
            continue;
        along[i].tangent = l.args[i].array ? d.args[i].array : d.args[i].gradient;
        along[i].product = l.args[i].array ? h.args[i].array : h.args[i].gradient;
    }
    if (st == RG_OK)
        st = reversed ? rg_adjoint_of_tangent(m->kernel, l.args, along, m->n)
                      : rg_hvp(m->kernel, l.args, along, m->n);
    if (st == RG_OK)
        st = launch_read(&l, m, RG_GRADIENT, grads);
    for (size_t i = 0; i < m->n && st == RG_OK; i++) {
        unsigned char *b = calloc(1, m->p[i].bytes + 16);
        if (along[i].product)
            st = rg_array_read(along[i].product, RG_DATA, b, m->p[i].bytes);
        if (along[i].product && st == RG_OK)
            unpack(m, i, b, products);
        free(b);
    }
    snprintf(why, sizeof why, "%s: %s", rg_status_name(st), rg_context_message(ctx));
    free(zeros);
    launch_close(&l, m);
    launch_close(&d, m);
    launch_close(&h, m);
    return st;
}

static bool close_enough(double a, double b, double tol) {
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    return fabs(a - b) <= tol * (1 + fmax(fabs(a), fabs(b)));
}

/* Names the scalar: "x[3].y" by flat index of the element. */
static const char *scalar_name(const model *m, size_t k) {
    static char text[256];
    for (size_t i = 0; i < m->n; i++) {
        size_t n = m->p[i].elements * m->p[i].fields;
        if (k < n) {
            snprintf(text, sizeof text, "%s[%zu]%s", m->p[i].info.name, k / m->p[i].fields,
                     m->p[i].field[k % m->p[i].fields].path);
            return text;
        }
        k -= n;
    }
    return "?";
}

static bool compare(const job *j, const model *m, const char *device, const char *what,
                    const double *got, const double *want, const double *spread, size_t n,
                    double tol) {
    for (size_t k = 0; k < n; k++)
        if (!close_enough(got[k], want[k], tol) && !(fabs(got[k] - want[k]) <= spread[k])) {
            printf("fail %s %s %s %s is %.17g, gcc has %.17g\n", j->name, device, what,
                   scalar_name(m, k), got[k], want[k]);
            return false;
        }
    return true;
}

enum { NOISES = 16 };

/* How far each result moves when the functions are off, at most, and as much again. */
static void spread_out(const model *m, call_fn *call, const double *in, const double *want,
                       double *spread) {
    vec off = vec_new(model_scalars(m));
    for (uint64_t k = 1; noise && k <= NOISES; k++) {
        *noise = k * UINT64_C(0x9e3779b97f4a7c15);
        outside(m, call, in, off.at);
        for (size_t i = 0; i < off.n; i++) {
            double d = 2 * fabs(off.at[i] - want[i]);
            spread[i] = isnan(d) ? INFINITY : fmax(spread[i], d);
        }
    }
    if (noise)
        *noise = 0;
    free(off.at);
}

/* How far roundings may move each result: what gcc's double build makes of inputs that are off by
 * some of them, and in float what its float build makes of its own. Sums that are added in another
 * order may be off by that. */
static void rounding_out(const job *j, rg_device *dev, bool wide, const double *in,
                         const double *want, double *spread) {
    model m;
    if (model_open(&m, j, dev, true, 0) == RG_OK) {
        size_t n = model_scalars(&m);
        bool *active = model_active(&m);
        vec exact = vec_new(n), near = vec_new(n), off = vec_new(n);
        const double off_by = wide ? 0x1p-50 : 0x1p-21;
        uint64_t before = rng_state; /* what is drawn after this stays what it was */
        outside(&m, j->call[1], in, exact.at);
        for (size_t i = 0; i < n && !wide; i++)
            spread[i] = fmax(spread[i], 8 * fabs(exact.at[i] - want[i]));
        for (int k = 0; k < NOISES; k++) {
            for (size_t i = 0; i < n; i++)
                near.at[i] = active[i] ? in[i] * (1 + unit() * off_by) : in[i];
            outside(&m, j->call[1], near.at, off.at);
            for (size_t i = 0; i < n; i++)
                spread[i] = fmax(spread[i], fabs(off.at[i] - exact.at[i]));
        }
        rng_state = before;
        free(exact.at);
        free(near.at);
        free(off.at);
        free(active);
    }
    model_close(&m);
}

static double dot(const double *a, const double *b, size_t n) {
    double s = 0;
    for (size_t k = 0; k < n; k++)
        if (a[k] != 0 && b[k] != 0)
            s += a[k] * b[k];
    return s;
}

static double dot_scale(const double *a, const double *b, size_t n) {
    double s = 0;
    for (size_t k = 0; k < n; k++)
        s += fabs(a[k] * b[k]);
    return s;
}

/* <g, f(x + h d) - f(x)>, differences taken element by element to keep their digits. */
static double moved(const model *m, const job *j, const double *in, const double *d, double h,
                    const double *g, const double *base) {
    vec x = vec_new(model_scalars(m)), y = vec_new(x.n);
    for (size_t k = 0; k < x.n; k++)
        x.at[k] = in[k] + h * d[k];
    outside(m, j->call[1], x.at, y.at);
    double s = 0;
    for (size_t k = 0; k < x.n; k++)
        if (g[k] != 0)
            s += g[k] * (y.at[k] - base[k]);
    free(x.at);
    free(y.at);
    return s;
}

/* Derivative of <g, f> along d by central differences; false at a kink. */
static bool differences(const model *m, const job *j, const double *in, const double *d,
                        const double *g, const double *base, double *out, double *error) {
    const double h = 1e-5;
    double up = moved(m, j, in, d, h, g, base), down = moved(m, j, in, d, -h, g, base);
    double up2 = moved(m, j, in, d, h / 2, g, base), down2 = moved(m, j, in, d, -h / 2, g, base);
    double c = (up - down) / (2 * h), c2 = (up2 - down2) / h;
    *out = (4 * c2 - c) / 3;
    *error = fabs(c2 - c);
    /* one-sided slopes differ by h f'' where f is smooth, by the jump where it is not */
    double bend = fabs(up + down) / h, bend2 = 2 * fabs(up2 + down2) / h;
    double scale = 1 + fabs(c) + fabs(c2);
    if (!isfinite(c) || !isfinite(c2))
        return false;
    if (bend2 > 0.7 * bend && bend2 > 1e-6 * scale)
        return false;
    return *error <= 1e-4 * scale;
}

/* One component of the derivative, for the report. */
static void locate(const model *m, const job *j, const double *in, const double *g,
                   const double *base, const double *grads, const bool *active) {
    vec d = vec_new(model_scalars(m));
    int shown = 0;
    for (size_t k = 0; k < d.n && shown < 3; k++) {
        if (!active[k])
            continue;
        double slope, error;
        d.at[k] = 1;
        bool smooth = differences(m, j, in, d.at, g, base, &slope, &error);
        d.at[k] = 0;
        if (smooth && !close_enough(slope, grads[k], 1e-5 + 10 * error)) {
            printf("; %s.grad is %.9g, differences say %.9g", scalar_name(m, k), grads[k], slope);
            shown++;
        }
    }
    free(d.at);
}

static const char *one_line(char *s) {
    for (char *c = s; *c; c++)
        if (*c == '\n')
            *c = '|';
    return s;
}

static bool refused(const job *j, const char *device, const char *what) {
    printf("refused %s %s %s %s\n", j->name, device, what, one_line(why));
    return false;
}

/* The adjoint with as little tape memory as it can do with, its long loops in blocks of blocks: the
 * same gradient, but that products of cotangents may be shared in another way. */
static bool test_blocks(const job *j, rg_device *dev, const char *label, const double *in,
                        const double *seeds, const double *want) {
    uint64_t tape = 1;
    for (int attempt = 0;; attempt++) {
        model m;
        bool ok = true;
        rg_status st = model_open(&m, j, dev, true, tape);
        size_t n = model_scalars(&m);
        vec got = vec_new(n), grads = vec_new(n);
        if (st == RG_OK)
            st = run_mode(&m, dev, ADJOINT, in, seeds, got.at, grads.at);
        const char *least = strstr(why, " bytes for the steps of this loop, and ");
        if (st == RG_OK) {
            double scale = 1;
            for (size_t k = 0; k < n; k++)
                if (isfinite(want[k]))
                    scale = fmax(scale, fabs(want[k]));
            for (size_t k = 0; k < n && ok; k++)
                if (!close_enough(grads.at[k], want[k], 1e-12 * scale)) {
                    printf("fail %s %s blocks %s has gradient %.17g, %.17g with every step saved "
                           "(tape memory %" PRIu64 ")\n",
                           j->name, label, scalar_name(&m, k), grads.at[k], want[k], tape);
                    ok = false;
                }
        } else if (st == RG_ERROR_MEMORY && attempt == 0 && least) {
            tape = strtoull(strstr(least, "and ") + 4, NULL, 10);
        } else {
            ok = refused(j, label, "blocks");
        }
        free(got.at);
        free(grads.at);
        model_close(&m);
        if (st == RG_OK || !ok)
            return ok;
    }
}

/* Gradients at in + step d. */
static rg_status gradients_at(const model *m, rg_device *dev, const double *in, const double *d,
                              double step, const double *seeds, double *out) {
    vec x = vec_new(model_scalars(m)), y = vec_new(x.n);
    for (size_t k = 0; k < x.n; k++)
        x.at[k] = in[k] + step * d[k];
    rg_status st = run_mode(m, dev, ADJOINT, x.at, seeds, y.at, out);
    free(x.at);
    free(y.at);
    return st;
}

/* Second order where the function is smooth along d (drivers that compile for seconds get some):
 * both orders, each other, the gradients of the adjoint, and differences of gradients. */
static bool test_second(const job *j, const model *m, rg_device *dev, const char *label,
                        const double *in, const double *seeds, const double *d,
                        const double *grads) {
    const double h = 1e-5;
    size_t n = model_scalars(m);
    vec g[2], p[2], at[4];
    bool ok = true;
    for (int k = 0; k < 4; k++)
        at[k] = vec_new(n);
    for (int k = 0; k < 2; k++) {
        g[k] = vec_new(n);
        p[k] = vec_new(n);
        if (ok && run_second(m, k, in, seeds, d, g[k].at, p[k].at) != RG_OK)
            ok = refused(j, label, k ? "adjoint-of-tangent" : "hvp");
    }
    const double steps[4] = {h, -h, h / 2, -h / 2};
    for (int k = 0; k < 4 && ok; k++)
        if (gradients_at(m, dev, in, d, steps[k], seeds, at[k].at) != RG_OK)
            ok = refused(j, label, "adjoint");
    double scale = 1;
    for (size_t k = 0; k < n && ok; k++)
        if (isfinite(grads[k]))
            scale = fmax(scale, fabs(grads[k]));
    for (size_t k = 0; k < n && ok; k++) {
        double c = (at[0].at[k] - at[1].at[k]) / (2 * h), c2 = (at[2].at[k] - at[3].at[k]) / h;
        double slope = (4 * c2 - c) / 3, error = fabs(c2 - c);
        double bend = fabs(at[0].at[k] + at[1].at[k] - 2 * grads[k]) / h;
        double bend2 = 2 * fabs(at[2].at[k] + at[3].at[k] - 2 * grads[k]) / h;
        double big = scale + fabs(slope) + fabs(p[0].at[k]);
        bool smooth = isfinite(c) && isfinite(c2) && error <= 1e-4 * big &&
                      !(bend2 > 0.7 * bend && bend2 > 1e-5 * big);
        for (int o = 0; o < 2 && ok; o++)
            if (!close_enough(g[o].at[k], grads[k], 1e-9 * scale)) {
                printf("fail %s %s %s %s.grad is %.15g, the adjoint has %.15g\n", j->name, label,
                       o ? "adjoint-of-tangent" : "hvp", scalar_name(m, k), g[o].at[k], grads[k]);
                ok = false;
            }
        if (!smooth || !ok)
            continue;
        for (int o = 0; o < 2 && ok; o++)
            if (!(fabs(p[o].at[k] - slope) <= 1e-5 * big + 10 * error)) {
                printf(
                    "fail %s %s %s %s.hvp is %.12g, differences of gradients say %.12g (the other "
                    "order: %.12g)\n",
                    j->name, label, o ? "adjoint-of-tangent" : "hvp", scalar_name(m, k), p[o].at[k],
                    slope, p[1 - o].at[k]);
                ok = false;
            }
        if (ok && !close_enough(p[0].at[k], p[1].at[k], 1e-8 * scale)) {
            printf("fail %s %s orders %s.hvp is %.15g and %.15g\n", j->name, label,
                   scalar_name(m, k), p[0].at[k], p[1].at[k]);
            ok = false;
        }
    }
    for (int k = 0; k < 4; k++)
        free(at[k].at);
    for (int k = 0; k < 2; k++) {
        free(g[k].at);
        free(p[k].at);
    }
    return ok;
}

/* All modes of one kernel on one device. */
static bool test_on(const job *j, rg_device *dev, const char *device, bool full, double *share,
                    bool *kinked) {
    bool ok = true;
    for (int wide = 0; wide <= 1 && ok; wide++) {
        model m;
        char label[32];
        snprintf(label, sizeof label, "%s/%s", device, wide ? "double" : "float");
        rng_state = j->seed * 1000003 + 17;
        rg_status st = model_open(&m, j, dev, wide, 0);
        if (st != RG_OK) {
            snprintf(why, sizeof why, "%s: %s", rg_status_name(st), rg_context_message(ctx));
            model_close(&m);
            return refused(j, label, "compile");
        }
        size_t n = model_scalars(&m);
        bool *active = model_active(&m);
        vec in = draw_inputs(&m, j), want = vec_new(n), got = vec_new(n), grads = vec_new(n),
            spread = vec_new(n), seeds = vec_new(n), dirs = vec_new(n), tangent = vec_new(n),
            base = vec_new(n);
        double tol = j->exact ? 0 : wide ? 1e-9 : 1e-3;
        outside(&m, j->call[wide], in.at, want.at);
        if (strncmp(device, "vulkan", 6) == 0)
            spread_out(&m, j->call[wide], in.at, want.at, spread.at);
        if (!j->exact)
            rounding_out(j, dev, wide, in.at, want.at, spread.at);
        for (size_t k = 0; k < n; k++)
            seeds.at[k] = active[k] ? unit() : 0;
        for (size_t i = 0; i < m.n; i++) /* a scalar is no output */
            if (!m.p[i].info.is_array)
                for (size_t e = 0; e < m.p[i].fields; e++)
                    seeds.at[first_scalar(&m, i) + e] = 0;
        bool primal = full || !wide, adjoint = wide || full;
        if (primal) {
            if (run_mode(&m, dev, PRIMAL, in.at, NULL, got.at, NULL) != RG_OK)
                ok = refused(j, label, "primal");
            else
                ok = compare(j, &m, label, "primal", got.at, want.at, spread.at, n, tol);
        }
        if (ok && adjoint) {
            if (run_mode(&m, dev, ADJOINT, in.at, seeds.at, got.at, grads.at) != RG_OK)
                ok = refused(j, label, "adjoint");
            else
                ok = compare(j, &m, label, "recorded", got.at, want.at, spread.at, n, tol) &&
                     (!wide || strcmp(device, "ref") != 0 ||
                      test_blocks(j, dev, label, in.at, seeds.at, grads.at));
        }
        if (ok && wide) {
            size_t live = 0, all = 0;
            for (size_t k = 0; k < n; k++) {
                all += active[k];
                live += active[k] && grads.at[k] != 0;
            }
            *share = all ? (double)live / (double)all : 0;
            memcpy(base.at, want.at, n * sizeof(double));
            bool smooth = false;
            for (int attempt = 0; attempt < 6 && ok && !smooth; attempt++) {
                for (size_t k = 0; k < n; k++)
                    dirs.at[k] = active[k] ? unit() : 0;
                double along = dot(grads.at, dirs.at, n), slope = 0, error = 0;
                double scale = 1 + dot_scale(grads.at, dirs.at, n);
                if (full && attempt == 0) {
                    if (run_mode(&m, dev, TANGENT, in.at, dirs.at, got.at, tangent.at) != RG_OK) {
                        ok = refused(j, label, "tangent");
                        break;
                    }
                    double pushed = dot(seeds.at, tangent.at, n);
                    if (!(fabs(pushed - along) <= 1e-9 * scale)) {
                        printf("fail %s %s tangent <J^T g, d> is %.12g, <g, J d> is %.12g", j->name,
                               label, along, pushed);
                        locate(&m, j, in.at, seeds.at, base.at, grads.at, active);
                        printf("\n");
                        ok = false;
                        break;
                    }
                }
                smooth = differences(&m, j, in.at, dirs.at, seeds.at, base.at, &slope, &error);
                if (smooth && !(fabs(slope - along) <= 1e-6 * scale + 3 * error)) {
                    printf("fail %s %s adjoint along a direction is %.12g, differences say %.12g",
                           j->name, label, along, slope);
                    locate(&m, j, in.at, seeds.at, base.at, grads.at, active);
                    printf("\n");
                    ok = false;
                }
            }
            if (!smooth)
                *kinked = true;
            else if (ok && full && (strncmp(device, "vulkan", 6) != 0 || j->seed % 5 == 0))
                ok = test_second(j, &m, dev, label, in.at, seeds.at, dirs.at, grads.at);
        }
        free(active);
        free(in.at);
        free(want.at);
        free(got.at);
        free(grads.at);
        free(spread.at);
        free(seeds.at);
        free(dirs.at);
        free(tangent.at);
        free(base.at);
        model_close(&m);
    }
    return ok;
}

static bool read_job(char *line, job *j) {
    memset(j, 0, sizeof *j);
    char *save, *word = strtok_r(line, " \n", &save);
    for (int at = 0; word; word = strtok_r(NULL, " \n", &save), at++) {
        if (at == 0)
            snprintf(j->name, sizeof j->name, "%s", word);
        else if (at == 1)
            snprintf(j->file, sizeof j->file, "%s", word);
        else if (at == 2)
            j->exact = !strcmp(word, "exact");
        else if (at == 3)
            j->seed = strtoull(word, NULL, 10);
        else if (j->n_specs < MAX_SPECS) {
            char *eq = strchr(word, '=');
            if (!eq)
                return false;
            *eq = '\0';
            snprintf(j->specs[j->n_specs].name, sizeof j->specs->name, "%s", word);
            snprintf(j->specs[j->n_specs].value, sizeof j->specs->value, "%s", eq + 1);
            j->n_specs++;
        }
    }
    return j->name[0] != '\0';
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: driver LIBRARY MANIFEST DEVICE...\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    void *lib = dlopen(argv[1], RTLD_NOW);
    FILE *manifest = fopen(argv[2], "r");
    if (!lib || !manifest) {
        fprintf(stderr, "driver: cannot open %s or %s\n", argv[1], argv[2]);
        return 2;
    }
    rg_context_options co = {.size = sizeof co, .cache_dir = ""};
    if (rg_context_new(&co, &ctx) != RG_OK)
        return 2;
    rg_device *devices[4] = {0};
    int n_devices = 0;
    for (int a = 3; a < argc && n_devices < 4; a++) {
        const char *flags = getenv("FUZZ_CFLAGS"); /* -fsanitize=thread, say */
        char cflags[256], name[32];
        snprintf(cflags, sizeof cflags, "-O1 -fno-builtin %s", flags ? flags : "");
        snprintf(name, sizeof name, "%s", argv[a]);
        char *checked = strstr(name, "+checked");
        if (checked)
            *checked = '\0';
        bool ref = !strcmp(name, "ref"); /* sees races, of the adjoint's own too */
        rg_device_options o = {.size = sizeof o,
                               .threads = 2,
                               .cflags = cflags,
                               .checked = checked != NULL || ref,
                               .races = ref};
        if (rg_device_open(ctx, name, &o, &devices[n_devices]) != RG_OK) {
            fprintf(stderr, "driver: %s: %s\n", argv[a], rg_context_message(ctx));
            return 2;
        }
        n_devices++;
    }
    void *noise_at = dlsym(lib, "fuzz_noise");
    memcpy(&noise, &noise_at, sizeof noise);
    const char *limit = getenv("FUZZ_SECONDS");
    unsigned seconds = limit ? (unsigned)strtoul(limit, NULL, 10) : 60;
    char line[4096];
    while (fgets(line, sizeof line, manifest)) {
        job j;
        if (!read_job(line, &j))
            continue;
        char symbol[80];
        for (int wide = 0; wide <= 1; wide++) {
            snprintf(symbol, sizeof symbol, "%s_%c", j.name, wide ? 'd' : 'f');
            void *f = dlsym(lib, symbol);
            memcpy(&j.call[wide], &f, sizeof f);
        }
        printf("begin %s\n", j.name);
        if (!j.call[0] || !j.call[1]) {
            printf("fail %s gcc missing symbol\n", j.name);
            continue;
        }
        double share = 0;
        bool kinked = false, ok = true;
        alarm(seconds); /* a hang ends the process; whoever started it goes on after this kernel */
        for (int d = 0; d < n_devices && ok; d++)
            ok = test_on(&j, devices[d], argv[3 + d], strncmp(argv[3 + d], "cpu", 3) != 0, &share,
                         &kinked);
        alarm(0);
        if (ok)
            printf("pass %s share=%.3f%s\n", j.name, share, kinked ? " kink" : "");
    }
    for (int d = 0; d < n_devices; d++)
        rg_device_release(devices[d]);
    rg_context_release(ctx);
    fclose(manifest);
    return 0;
}
