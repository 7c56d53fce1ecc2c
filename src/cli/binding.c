/* Integers come first (given, then solved from the shapes of given arrays), shapes follow from
 * them, data from the shapes. */
#include "binding.h"

#include "dtype.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

bool rg_cli_param_is_int(const rg_cli_param *p) {
    return !p->info.is_array &&
           (rg_cli_dtype_is_int(p->info.dtype) || p->info.dtype == RG_DTYPE_BOOL);
}

static bool name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

bool rg_cli_mentions(const char *text, const char *name) {
    size_t n = strlen(name);
    for (const char *s = text; (s = strstr(s, name)) != NULL; s++)
        if ((s == text || !name_char(s[-1])) && !name_char(s[n]))
            return true;
    return false;
}

const char *rg_cli_param_text(const rg_cli_param *p) {
    const char *s = p->type;
    if (!p->info.is_array)
        return s;
    s = rg_cli_format("%s ", s);
    for (size_t i = 0; i < p->info.rank; i++) {
        const char *extent = p->info.extent_text ? p->info.extent_text[i] : NULL;
        s = rg_cli_format("%s[%s]", s, extent ? extent : "");
    }
    return s;
}

bool rg_cli_binding_new(rg_kernel *k, rg_context *ctx, rg_cli_binding *b) {
    *b = (rg_cli_binding){.kernel = k, .name = rg_kernel_name(k), .n = rg_kernel_param_count(k)};
    b->params = rg_cli_alloc(b->n, sizeof *b->params);
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        p->index = i;
        p->info.size = sizeof p->info;
        rg_status st = rg_kernel_param(k, i, &p->info);
        if (st != RG_OK) {
            rg_cli_problem("%s: parameter %zu: %s", b->name, i, rg_context_message(ctx));
            return false;
        }
        size_t n = rg_kernel_field_count(k, i);
        rg_field_info *f = rg_cli_alloc(n, sizeof *f);
        p->layout = (rg_cli_layout){p->info.item_size, n, f, RG_DTYPE_STRUCT};
        for (size_t j = 0; j < n; j++) {
            f[j].size = sizeof f[j];
            st = rg_kernel_field(k, i, j, &f[j]);
            if (st != RG_OK) {
                rg_cli_problem("%s: parameter %zu: %s", b->name, i, rg_context_message(ctx));
                return false;
            }
        }
        bool same = n > 0;
        for (size_t j = 1; j < n; j++)
            same = same && f[j].dtype == f[0].dtype;
        if (same)
            p->layout.dtype = f[0].dtype;
        p->type = p->info.type_name                  ? p->info.type_name
                  : p->info.dtype == RG_DTYPE_STRUCT ? "struct"
                                                     : rg_cli_dtype_c(p->info.dtype);
    }
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < b->n; j++)
            for (size_t axis = 0; b->params[j].info.is_array && axis < b->params[j].info.rank;
                 axis++) {
                const char *const *text = b->params[j].info.extent_text;
                if (text && text[axis] && rg_cli_param_is_int(&b->params[i]) &&
                    rg_cli_mentions(text[axis], b->params[i].info.name))
                    b->params[i].is_extent = true;
            }
    return true;
}

void rg_cli_binding_free(rg_cli_binding *b) {
    for (size_t i = 0; i < b->n; i++) {
        free(b->params[i].data);
        free(b->params[i].seed);
        free(b->params[i].direction_seed);
        rg_cli_value_free(&b->params[i].value);
        rg_cli_value_free(&b->params[i].gradient);
        rg_cli_value_free(&b->params[i].direction);
    }
    b->n = 0;
}

rg_cli_param *rg_cli_binding_find(const rg_cli_binding *b, const char *name) {
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->params[i].info.name, name) == 0)
            return &b->params[i];
    return NULL;
}

void rg_cli_binding_unknown(const rg_cli_binding *b, const char *name) {
    const char **names = rg_cli_alloc(b->n + 1, sizeof *names);
    const char *all = "";
    for (size_t i = 0; i < b->n; i++) {
        names[i] = b->params[i].info.name;
        all = rg_cli_format("%s%s%s", all, i ? ", " : "", names[i]);
    }
    const char *near = rg_cli_nearest(name, names);
    if (near)
        rg_cli_problem("%s has no parameter '%s': did you mean '%s'?", b->name, name, near);
    else
        rg_cli_problem("%s has no parameter '%s': it has %s", b->name, name, b->n ? all : "none");
}

void rg_cli_binding_assign(rg_cli_binding *b, const rg_cli_pairs *values, bool ignore_unknown) {
    for (size_t i = 0; i < values->n; i++) {
        rg_cli_param *p = rg_cli_binding_find(b, values->at[i].name);
        if (!p) {
            if (!ignore_unknown)
                rg_cli_binding_unknown(b, values->at[i].name);
            continue;
        }
        if (p->has_value) {
            rg_cli_problem("'%s' is given twice", p->info.name);
            continue;
        }
        p->has_value = true;
        const char *wrong = rg_cli_value_parse(values->at[i].value, &p->value);
        if (!wrong)
            wrong = rg_cli_value_load(&p->value);
        if (wrong)
            rg_cli_problem("%s: %s", p->info.name, wrong);
    }
}

void rg_cli_binding_gradients(rg_cli_binding *b, const char *option, const rg_cli_pairs *values,
                              bool directions) {
    for (size_t i = 0; i < values->n; i++) {
        rg_cli_param *p = rg_cli_binding_find(b, values->at[i].name);
        if (!p) {
            rg_cli_binding_unknown(b, values->at[i].name);
            continue;
        }
        if (!p->info.has_float)
            rg_cli_problem("%s %s: '%s' is %s, which carries no gradient", option, p->info.name,
                           p->info.name, rg_cli_param_text(p));
        bool *has = directions ? &p->has_direction : &p->has_gradient;
        rg_cli_value *v = directions ? &p->direction : &p->gradient;
        if (*has)
            rg_cli_problem("%s %s is given twice", option, p->info.name);
        *has = true;
        const char *wrong = rg_cli_value_parse(values->at[i].value, v);
        if (!wrong)
            wrong = rg_cli_value_load(v);
        if (wrong)
            rg_cli_problem("%s %s: %s", option, p->info.name, wrong);
    }
}

bool rg_cli_param_resize(rg_cli_param *p, size_t rank, const int64_t *shape) {
    size_t count = 1, bytes;
    for (size_t i = 0; i < rank; i++)
        if (shape[i] == 0)
            count = 0;
    for (size_t i = 0; i < rank && count; i++)
        if (__builtin_mul_overflow(count, (size_t)shape[i], &count)) {
            rg_cli_problem("%s: the shape %s is too large", p->info.name,
                           rg_cli_shape_text(rank, shape));
            return false;
        }
    void *data = __builtin_mul_overflow(count, p->info.item_size, &bytes) || bytes > PTRDIFF_MAX
                     ? NULL
                     : calloc(1, bytes ? bytes : 1);
    if (!data) {
        rg_cli_problem("%s: out of memory: its shape is %s", p->info.name,
                       rg_cli_shape_text(rank, shape));
        return false;
    }
    free(p->data);
    p->data = data;
    p->count = count;
    for (size_t i = 0; i < rank && i < RG_MAX_RANK; i++)
        p->shape[i] = shape[i];
    p->shape_known = true;
    return true;
}

/* Fills a by-value parameter. */
static void fill_scalar(rg_cli_param *p) {
    const char *wrong = NULL;
    if (p->value.has_shape) {
        size_t count = 1;
        for (size_t i = 0; i < p->value.rank; i++)
            count *= (size_t)p->value.shape[i];
        if (count != p->layout.n)
            wrong = rg_cli_format("a single %s is wanted, not an array of shape %s", p->type,
                                  rg_cli_shape_text(p->value.rank, p->value.shape));
    }
    if (p->value.kind == RG_VALUE_NUMBER && p->info.dtype == RG_DTYPE_STRUCT)
        wrong = rg_cli_format("%s is a struct: a list such as 1,2,3, a generator or a .npy file is "
                              "wanted",
                              p->type);
    if (!rg_cli_param_resize(p, 0, NULL))
        return;
    if (!wrong)
        wrong = rg_cli_value_fill(&p->value, &p->layout, 1, p->info.name, false, p->data);
    if (wrong)
        rg_cli_problem("%s (%s): %s", p->info.name, p->type, wrong);
    p->filled = true;
}

/* The shape that a value brings along, without the trailing axis of a struct's fields. False when
 * it brings none. */
static bool own_shape(const rg_cli_param *p, const rg_cli_value *v, const char *what,
                      int64_t *shape) {
    size_t rank = p->info.rank;
    if (v->kind == RG_VALUE_LIST) {
        if (rank != 1 || !p->layout.n || v->n_numbers % p->layout.n)
            return false;
        shape[0] = (int64_t)(v->n_numbers / p->layout.n);
        return true;
    }
    if (!v->has_shape)
        return false;
    bool fields = p->info.dtype == RG_DTYPE_STRUCT && p->layout.dtype != RG_DTYPE_STRUCT;
    if (p->info.dtype == RG_DTYPE_STRUCT && !fields && v->kind == RG_VALUE_NPY) {
        rg_cli_problem("%s: '%s' is %s, whose fields differ in type: no .npy file is read into it, "
                       "use a generator",
                       what, p->info.name, rg_cli_param_text(p));
        return false;
    }
    bool trailing = fields && v->rank == rank + 1 && v->shape[rank] == (int64_t)p->layout.n;
    if (trailing || (v->rank == rank && !(fields && v->kind == RG_VALUE_NPY))) {
        memcpy(shape, v->shape, rank * sizeof *shape);
        return true;
    }
    if (fields)
        rg_cli_problem("%s: %s is given, but '%s' is %s: %zu axes and one of %zu fields are "
                       "wanted",
                       what, rg_cli_shape_text(v->rank, v->shape), p->info.name,
                       rg_cli_param_text(p), rank, p->layout.n);
    else
        rg_cli_problem("%s: shape %s has %zu axes, '%s' is %s", what,
                       rg_cli_shape_text(v->rank, v->shape), v->rank, p->info.name,
                       rg_cli_param_text(p));
    return false;
}

void rg_cli_binding_solve(rg_cli_binding *b) {
    for (size_t i = 0; i < b->n; i++)
        if (!b->params[i].info.is_array && b->params[i].has_value && !b->params[i].filled)
            fill_scalar(&b->params[i]);
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        int64_t shape[RG_MAX_RANK];
        if (!p->info.is_array || !p->has_value || !own_shape(p, &p->value, p->info.name, shape))
            continue;
        for (size_t axis = 0; axis < p->info.rank; axis++) {
            const char *text = p->info.extent_text ? p->info.extent_text[axis] : NULL;
            rg_cli_param *n = text ? rg_cli_binding_find(b, text) : NULL;
            if (!n || !rg_cli_param_is_int(n) || n->filled || n->has_value)
                continue;
            if (!rg_cli_param_resize(n, 0, NULL))
                continue;
            if (!rg_cli_scalar_set_int(n->info.dtype, n->data, shape[axis], false))
                rg_cli_problem("%s: its extent %lld does not fit '%s' (%s)", p->info.name,
                               (long long)shape[axis], n->info.name, n->type);
            n->filled = true;
        }
    }
}

void rg_cli_binding_missing(const rg_cli_binding *b) {
    bool unsolved = rg_cli_problem_count() > 0; /* a bad array would have had the extent */
    for (size_t i = 0; i < b->n; i++) {
        const rg_cli_param *p = &b->params[i];
        const char *name = p->info.name;
        if (p->has_value || p->filled || (p->is_extent && unsolved))
            continue;
        if (p->info.is_array)
            rg_cli_problem("missing value for '%s' (%s): give %s=VALUE, such as %s=rand or "
                           "%s=FILE.npy",
                           name, rg_cli_param_text(p), name, name, name);
        else if (p->is_extent)
            rg_cli_problem("missing value for '%s' (%s): give %s=VALUE, or an array of that extent "
                           "with its shape",
                           name, p->type, name);
        else
            rg_cli_problem("missing value for '%s' (%s): give %s=VALUE", name, p->type, name);
    }
}

bool rg_cli_binding_declared(const rg_cli_binding *b, const rg_cli_param *p, int64_t *shape) {
    int64_t *values = rg_cli_alloc(b->n, sizeof *values);
    bool *known = rg_cli_alloc(b->n, sizeof *known);
    for (size_t j = 0; j < b->n; j++)
        if (rg_cli_param_is_int(&b->params[j]) && b->params[j].filled) {
            known[j] = true;
            values[j] = rg_cli_scalar_get_int(b->params[j].info.dtype, b->params[j].data);
        }
    for (size_t i = 0; i < p->info.rank; i++)
        shape[i] = -1;
    return rg_kernel_param_shape(b->kernel, p->index, values, known, shape) == RG_OK;
}

/* Why an extent is not known: its text and the integers in it that have no value. */
static void unknown_extent(const rg_cli_binding *b, const rg_cli_param *p, size_t axis) {
    const char *text = p->info.extent_text ? p->info.extent_text[axis] : NULL;
    const char *shape = "3";
    for (size_t i = 1; i < p->info.rank; i++)
        shape = rg_cli_format("%sx3", shape);
    if (!text) {
        rg_cli_problem("%s: its extent is not declared: give a shape, such as %s=rand:7:%s",
                       p->info.name, p->info.name, shape);
        return;
    }
    for (size_t j = 0; j < b->n; j++)
        if (rg_cli_param_is_int(&b->params[j]) && !b->params[j].filled)
            return; /* that one is reported as missing */
    rg_cli_problem("%s: its extent %s has no valid value: it must not be negative", p->info.name,
                   text);
}

void rg_cli_binding_shapes(rg_cli_binding *b) {
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        int64_t declared[RG_MAX_RANK] = {0}, own[RG_MAX_RANK] = {0};
        if (!p->info.is_array || p->shape_known)
            continue;
        bool fine = rg_cli_binding_declared(b, p, declared);
        bool has_own = p->has_value && own_shape(p, &p->value, p->info.name, own);
        if (!fine) {
            rg_cli_problem("%s: its declared shape cannot be computed", p->info.name);
            continue;
        }
        bool number = p->value.kind == RG_VALUE_NUMBER;
        for (size_t axis = 0; axis < p->info.rank && fine; axis++) {
            const char *text = p->info.extent_text ? p->info.extent_text[axis] : NULL;
            if (has_own && declared[axis] < 0 && !text)
                declared[axis] = own[axis];
            if (declared[axis] < 0 && p->has_value && number && !text)
                declared[axis] = 1;
            if (declared[axis] < 0) {
                unknown_extent(b, p, axis);
                fine = false;
            } else if (has_own && own[axis] != declared[axis]) {
                rg_cli_problem("%s: shape %s is given, but it is %s, and %s is %lld", p->info.name,
                               rg_cli_shape_text(p->info.rank, own), rg_cli_param_text(p),
                               text ? text : "its extent", (long long)declared[axis]);
                fine = false;
            }
        }
        if (fine)
            rg_cli_param_resize(p, p->info.rank, declared);
    }
}

static void fill_seed(rg_cli_param *p, const rg_cli_value *v, const char *which, const char *salt,
                      void **seed) {
    size_t bytes = p->count * p->info.item_size;
    int64_t own[RG_MAX_RANK];
    free(*seed);
    *seed = calloc(1, bytes ? bytes : 1);
    if (!*seed) {
        rg_cli_problem("%s: out of memory for its %s", p->info.name, which);
        return;
    }
    const char *what = rg_cli_format("the %s of %s", which, p->info.name);
    if (p->info.is_array && own_shape(p, v, what, own) &&
        memcmp(own, p->shape, p->info.rank * sizeof *own) != 0) {
        rg_cli_problem("%s has shape %s, the array has %s", what,
                       rg_cli_shape_text(p->info.rank, own),
                       rg_cli_shape_text(p->info.rank, p->shape));
        return;
    }
    if (v->kind == RG_VALUE_NUMBER && p->count * p->layout.n != 1) {
        rg_cli_problem("%s is an array of shape %s: full:%s fills it", what,
                       rg_cli_shape_text(p->info.rank, p->shape), v->text);
        return;
    }
    const char *wrong = rg_cli_value_fill(v, &p->layout, p->count,
                                          rg_cli_format("%s.%s", p->info.name, salt), true, *seed);
    if (wrong)
        rg_cli_problem("%s: %s", what, wrong);
}

void rg_cli_binding_fill(rg_cli_binding *b) {
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        if (!p->shape_known)
            continue;
        if (p->has_gradient)
            fill_seed(p, &p->gradient, "gradient", "grad", &p->seed);
        if (p->has_direction)
            fill_seed(p, &p->direction, "direction", "dot", &p->direction_seed);
        if (!p->info.is_array || !p->has_value || p->filled)
            continue;
        if (p->value.kind == RG_VALUE_NUMBER && p->count * p->layout.n != 1) {
            rg_cli_problem("%s is an array (%s): %s=full:%s fills it", p->info.name,
                           rg_cli_param_text(p), p->info.name, p->value.text);
            continue;
        }
        const char *wrong =
            rg_cli_value_fill(&p->value, &p->layout, p->count, p->info.name, false, p->data);
        if (wrong)
            rg_cli_problem("%s (%s): %s", p->info.name, rg_cli_param_text(p), wrong);
        p->filled = true;
    }
}

bool rg_cli_bind(rg_cli_binding *b, const rg_cli_args *a) {
    size_t before = rg_cli_problem_count();
    rg_cli_binding_assign(b, &a->values, false);
    rg_cli_binding_gradients(b, "--grad", &a->grads, false);
    rg_cli_binding_gradients(b, "--dot", &a->dots, rg_cli_second_order(a));
    if (rg_cli_problem_count() == before)
        rg_cli_binding_solve(b);
    rg_cli_binding_missing(b);
    if (rg_cli_problem_count() == before)
        rg_cli_binding_shapes(b);
    if (rg_cli_problem_count() == before)
        rg_cli_binding_fill(b);
    return rg_cli_problem_count() == before;
}
