/* A value is parsed without knowing what it is for; types and counts meet it when an element is
 * filled, one scalar at a time in memory order. */
#include "values.h"

#include "dtype.h"
#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const generator_names[] = {"zeros", "ones",  "iota", "full",
                                              "rand",  "randn", NULL};
static const rg_cli_value_kind generator_kinds[] = {RG_VALUE_ZEROS, RG_VALUE_ONES, RG_VALUE_IOTA,
                                                    RG_VALUE_FULL,  RG_VALUE_RAND, RG_VALUE_RANDN};

const char *rg_cli_shape_text(size_t rank, const int64_t *shape) {
    char *s = rg_cli_strdup("[");
    for (size_t i = 0; i < rank; i++)
        s = rg_cli_format(i ? "%s,%lld" : "%s%lld", s, (long long)shape[i]);
    return rg_cli_format("%s]", s);
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

static bool looks_like_number(const char *s) {
    char *end;
    if (*s == '\0' || *s == ' ')
        return false;
    strtod(s, &end);
    return *end == '\0' || strcmp(s, "true") == 0 || strcmp(s, "false") == 0;
}

/* SHAPE = digits { "x" digits } */
static const char *parse_shape(const char *s, rg_cli_value *v) {
    v->rank = 0;
    for (;;) {
        int64_t extent = 0;
        if (*s < '0' || *s > '9')
            return "a shape is written like 1024x3";
        for (; *s >= '0' && *s <= '9'; s++)
            if (__builtin_mul_overflow(extent, 10, &extent) ||
                __builtin_add_overflow(extent, *s - '0', &extent))
                return "the shape is too large";
        if (v->rank == RG_NPY_MAX_RANK)
            return "the shape has too many axes";
        v->shape[v->rank++] = extent;
        if (!*s)
            break;
        if (*s++ != 'x')
            return "a shape is written like 1024x3";
    }
    v->has_shape = true;
    return NULL;
}

static const char *parse_seed(const char *s, rg_cli_value *v) {
    char *end;
    errno = 0;
    v->seed = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno)
        return "a seed is a whole number that is not negative";
    v->has_seed = true;
    return NULL;
}

static const char *parse_generator(size_t which, char *rest, rg_cli_value *v) {
    /* rest: what follows the name, after its colon; NULL when nothing does. */
    v->kind = generator_kinds[which];
    char *second = rest ? strchr(rest, ':') : NULL;
    if (second)
        *second++ = '\0';
    if (second && strchr(second, ':'))
        return "too many colons";
    switch (v->kind) {
    case RG_VALUE_FULL:
        if (!rest || !*rest)
            return "full wants a number: full:0.5";
        if (!looks_like_number(rest))
            return rg_cli_format("'%s' is no number", rest);
        v->numbers = rg_cli_alloc(1, sizeof *v->numbers);
        v->numbers[0] = rest;
        v->n_numbers = 1;
        return second ? parse_shape(second, v) : NULL;
    case RG_VALUE_RAND:
    case RG_VALUE_RANDN:
        if (rest && !second && strchr(rest, 'x')) /* rand:4x3 can only be a shape */
            return parse_shape(rest, v);
        if (rest && *rest) {
            const char *wrong = parse_seed(rest, v);
            if (wrong)
                return wrong;
        } else if (rest && !second) {
            return "a seed is missing after the colon";
        }
        return second ? parse_shape(second, v) : NULL;
    default:
        if (second)
            return "it takes a shape only";
        return rest ? parse_shape(rest, v) : NULL;
    }
}

const char *rg_cli_value_parse(const char *text, rg_cli_value *v) {
    memset(v, 0, sizeof *v);
    v->text = text;
    if (ends_with(text, ".npy")) {
        v->kind = RG_VALUE_NPY;
        return NULL;
    }
    char *word = rg_cli_strdup(text);
    if (looks_like_number(word)) {
        v->kind = RG_VALUE_NUMBER;
        v->numbers = rg_cli_alloc(1, sizeof *v->numbers);
        v->numbers[0] = word;
        v->n_numbers = 1;
        return NULL;
    }
    char *colon = strchr(word, ':');
    if (colon)
        *colon++ = '\0';
    for (size_t i = 0; generator_names[i]; i++)
        if (strcmp(word, generator_names[i]) == 0) {
            const char *wrong = parse_generator(i, colon, v);
            return wrong ? rg_cli_format("'%s': %s", text, wrong) : NULL;
        }
    if (strchr(text, ',')) {
        size_t n = 1, k = 0;
        for (const char *s = text; *s; s++)
            n += *s == ',';
        v->kind = RG_VALUE_LIST;
        v->numbers = rg_cli_alloc(n, sizeof *v->numbers);
        v->n_numbers = n;
        for (const char *s = text; k < n; k++) {
            size_t length = strcspn(s, ",");
            v->numbers[k] = rg_cli_strndup(s, length);
            if (!looks_like_number(v->numbers[k]))
                return rg_cli_format("'%s' in a list of numbers is no number", v->numbers[k]);
            s += length + 1;
        }
        return NULL;
    }
    const char *near = rg_cli_nearest(word, generator_names);
    if (near)
        return rg_cli_format("'%s' is no value: did you mean '%s'?", text, near);
    if (strchr(text, '/') || strchr(text, '.'))
        return rg_cli_format("'%s' is no value: files must end in .npy", text);
    return rg_cli_format("'%s' is no value: a number, FILE.npy, zeros, ones, iota, full:V, "
                         "rand[:SEED] or randn[:SEED]",
                         text);
}

const char *rg_cli_value_load(rg_cli_value *v) {
    char error[256];
    if (v->kind != RG_VALUE_NPY || v->npy.data)
        return NULL;
    if (!rg_npy_read(v->text, &v->npy, error, sizeof error))
        return rg_cli_format("%s: %s", v->text, error);
    v->has_shape = true;
    v->rank = v->npy.rank;
    memcpy(v->shape, v->npy.shape, sizeof v->npy.shape);
    return NULL;
}

void rg_cli_value_free(rg_cli_value *v) {
    rg_npy_free(&v->npy);
}

/* Integers are drawn from 0..9 by rand, and are the rounded triple of a normal number by randn. */
static void draw(rg_cli_rng *r, bool normal, rg_dtype t, void *p) {
    if (rg_cli_dtype_is_float(t)) {
        rg_cli_scalar_set(t, p, normal ? rg_cli_rng_normal(r) : rg_cli_rng_unit(r));
    } else if (t == RG_DTYPE_BOOL) {
        rg_cli_scalar_set_int(t, p, (int64_t)(rg_cli_rng_next(r) >> 63), false);
    } else if (normal) {
        double z = nearbyint(3 * rg_cli_rng_normal(r));
        rg_cli_scalar_set(t, p, rg_cli_dtype_is_unsigned(t) ? fabs(z) : z);
    } else {
        rg_cli_scalar_set_int(t, p, (int64_t)rg_cli_rng_below(r, 10), false);
    }
}

static const char *fill_scalar(const rg_cli_value *v, rg_cli_rng *r, rg_dtype t, size_t index,
                               void *p) {
    const char *wrong = NULL;
    switch (v->kind) {
    case RG_VALUE_ZEROS:
    case RG_VALUE_NPY:
        break;
    case RG_VALUE_ONES:
        rg_cli_scalar_set_int(t, p, 1, false);
        break;
    case RG_VALUE_IOTA:
        if (!rg_cli_scalar_set_int(t, p, (int64_t)index, false))
            wrong =
                rg_cli_format("iota reaches %zu, which does not fit %s", index, rg_cli_dtype_c(t));
        break;
    case RG_VALUE_NUMBER:
    case RG_VALUE_FULL:
        wrong = rg_cli_scalar_parse(t, v->numbers[0], p);
        if (wrong)
            wrong = rg_cli_format("%s, not '%s'", wrong, v->numbers[0]);
        break;
    case RG_VALUE_LIST:
        wrong = rg_cli_scalar_parse(t, v->numbers[index], p);
        if (wrong)
            wrong = rg_cli_format("%s, not '%s'", wrong, v->numbers[index]);
        break;
    case RG_VALUE_RAND:
    case RG_VALUE_RANDN:
        draw(r, v->kind == RG_VALUE_RANDN, t, p);
        break;
    }
    return wrong;
}

const char *rg_cli_value_fill(const rg_cli_value *v, const rg_cli_layout *l, size_t count,
                              const char *salt, bool floats_only, void *to) {
    rg_cli_rng r = {v->has_seed ? v->seed : rg_cli_hash(salt)};
    size_t scalars = count * l->n;
    if (v->kind == RG_VALUE_NPY) {
        if (l->dtype == RG_DTYPE_STRUCT)
            return "its struct has fields of different types, which no .npy file is read into: "
                   "use a generator";
        if (v->npy.dtype != l->dtype)
            return rg_cli_format("%s holds %s, %s is wanted: convert it with a.astype('%s')",
                                 v->text, rg_cli_dtype_numpy(v->npy.dtype),
                                 rg_cli_dtype_numpy(l->dtype), rg_cli_dtype_numpy(l->dtype));
        if (v->npy.count != scalars)
            return rg_cli_format("%s holds %zu numbers, %zu are wanted", v->text, v->npy.count,
                                 scalars);
        memcpy(to, v->npy.data, scalars * rg_cli_dtype_size(l->dtype));
        return NULL;
    }
    if (v->kind == RG_VALUE_LIST && v->n_numbers != scalars)
        return rg_cli_format("%zu numbers are given, %zu are wanted", v->n_numbers, scalars);
    unsigned char *item = to;
    for (size_t e = 0, index = 0; e < count; e++, item += l->item_size)
        for (size_t f = 0; f < l->n; f++, index++) {
            if (floats_only && !rg_cli_dtype_is_float(l->fields[f].dtype))
                continue;
            const char *wrong =
                fill_scalar(v, &r, l->fields[f].dtype, index, item + l->fields[f].offset);
            if (wrong)
                return wrong;
        }
    return NULL;
}
