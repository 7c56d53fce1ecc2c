/* Integers first (extents, then others), then shapes, then data; an integer array is drawn as if
 * it held indices, since nothing says that it does not. */
#include "check_draw.h"

#include "dtype.h"

#include <string.h>

static const struct manner {
    int extents[4];   /* of the 1st, 2nd ... integer that is an extent, repeated */
    int most_other;   /* other integers are 1 .. most_other */
    double low, high; /* floats */
    bool dominant;    /* square matrices get a large diagonal */
    enum indices { ANY, DISTINCT, INSIDE_ALL, DISTINCT_INSIDE_ALL, ZERO } indices;
} manners[RG_DRAW_MANNERS] = {
    {{7, 5, 6, 4}, 3, -1, 1, false, ANY},
    {{7, 5, 6, 4}, 3, 0.5, 1.5, false, ANY},
    {{7, 5, 6, 4}, 3, -1, 1, false, DISTINCT}, /* no two iterations may meet */
    {{7, 7, 7, 7}, 3, -1, 1, false, ANY},
    {{7, 7, 7, 7}, 2, 0.5, 1.5, true, DISTINCT},
    {{7, 7, 7, 7}, 1, 0.5, 1.5, true, INSIDE_ALL},
    {{16, 16, 16, 16}, 1, 0.5, 1.5, false, DISTINCT_INSIDE_ALL},
    {{4, 8, 12, 16}, 2, 0.1, 0.9, false, INSIDE_ALL},
    {{7, 5, 6, 4}, 3, 1.1, 2.1, false, ANY},
    {{8, 8, 8, 8}, 1, 0.5, 1.5, false, ZERO},
};

void rg_check_mark_given(const rg_cli_binding *b, bool *fixed) {
    for (size_t i = 0; i < b->n; i++)
        fixed[i] = b->params[i].has_value || b->params[i].filled;
}

bool rg_check_any_drawn(const rg_cli_binding *b, const bool *fixed) {
    for (size_t i = 0; i < b->n; i++)
        if (!fixed[i])
            return true;
    return false;
}

static bool has_undeclared(const rg_cli_binding *b) {
    for (size_t i = 0; i < b->n; i++)
        for (size_t axis = 0; b->params[i].info.is_array && axis < b->params[i].info.rank; axis++)
            if (!b->params[i].info.extent_text || !b->params[i].info.extent_text[axis])
                return true;
    return false;
}

static double draw_real(const struct manner *m, rg_cli_rng *r) {
    return m->low + (m->high - m->low) * rg_cli_rng_unit(r);
}

static void draw_integers(rg_cli_binding *b, const bool *fixed, const struct manner *m,
                          rg_cli_rng *r) {
    bool all_sizes = has_undeclared(b); /* then any integer may say how long an array is */
    size_t k = 0;
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        if (fixed[i] || !rg_cli_param_is_int(p) || !rg_cli_param_resize(p, 0, NULL))
            continue;
        int64_t v = 1 + (int64_t)rg_cli_rng_below(r, (uint64_t)m->most_other);
        if (p->info.dtype == RG_DTYPE_BOOL)
            v = (int64_t)rg_cli_rng_below(r, 2);
        else if (p->is_extent || all_sizes)
            v = m->extents[k++ % 4];
        rg_cli_scalar_set_int(p->info.dtype, p->data, v, false);
        p->filled = true;
    }
}

/* An extent that nothing declares: long enough for the product of all integers. */
static int64_t free_extent(const rg_cli_binding *b) {
    enum { LONGEST = 4096 };
    int64_t n = 1;
    for (size_t i = 0; i < b->n; i++)
        if (rg_cli_param_is_int(&b->params[i]) && b->params[i].filled) {
            int64_t v = rg_cli_scalar_get_int(b->params[i].info.dtype, b->params[i].data);
            if (v > n && n == 1)
                n = v;
            else if (v > 0 && n <= LONGEST / v)
                n *= v;
        }
    return n < 16 ? 16 : n;
}

static bool draw_shapes(rg_cli_binding *b, const bool *fixed) {
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        int64_t shape[RG_MAX_RANK];
        if (!p->info.is_array)
            continue;
        p->shape_known = false;
        if (fixed[i]) {
            p->filled = false;
            continue;
        }
        if (!rg_cli_binding_declared(b, p, shape))
            return false;
        for (size_t axis = 0; axis < p->info.rank; axis++) {
            const char *text = p->info.extent_text ? p->info.extent_text[axis] : NULL;
            if (shape[axis] < 0 && text)
                return false;
            if (shape[axis] < 0)
                shape[axis] = axis == 0 && p->info.rank > 1 ? 16 : free_extent(b);
        }
        if (!rg_cli_param_resize(p, p->info.rank, shape))
            return false;
    }
    rg_cli_binding_shapes(b);
    rg_cli_binding_fill(b);
    return rg_cli_problem_count() == 0;
}

/* One past the largest index that is inside every array. */
static uint64_t index_limit(const rg_cli_binding *b, bool constants_too) {
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < b->n; i++)
        for (size_t axis = 0; b->params[i].info.is_array && axis < b->params[i].info.rank; axis++) {
            const char *text =
                b->params[i].info.extent_text ? b->params[i].info.extent_text[axis] : NULL;
            bool constant = text && strspn(text, "0123456789") == strlen(text);
            int64_t n = b->params[i].shape[axis];
            if ((!constant || constants_too) && n > 0 && n < least)
                least = n;
        }
    if (least == INT64_MAX)
        return constants_too ? 1 : index_limit(b, true);
    return (uint64_t)least;
}

enum { MOST_INDICES = 100 };

/* Indices below a limit; distinct ones come from a shuffled deck that is dealt again when empty. */
typedef struct deck {
    enum indices how;
    size_t limit, left;
    int64_t cards[MOST_INDICES];
} deck;

static int64_t draw_index(deck *d, rg_cli_rng *r) {
    if (d->how == ZERO)
        return 0;
    if (d->how == ANY || d->how == INSIDE_ALL)
        return (int64_t)rg_cli_rng_below(r, d->limit);
    if (!d->left)
        for (; d->left < d->limit; d->left++)
            d->cards[d->left] = (int64_t)d->left;
    size_t k = (size_t)rg_cli_rng_below(r, d->left--);
    int64_t card = d->cards[k];
    d->cards[k] = d->cards[d->left];
    return card;
}

static bool on_diagonal(const rg_cli_param *p, size_t e) {
    return p->info.is_array && p->info.rank == 2 && p->shape[0] == p->shape[1] &&
           e % ((size_t)p->shape[0] + 1) == 0;
}

static void draw_data(rg_cli_param *p, const struct manner *m, uint64_t limit, rg_cli_rng *r) {
    unsigned char *item = p->data;
    double more = m->dominant && p->info.is_array ? 2 * (double)p->shape[0] : 0;
    deck d = {.how = m->indices, .limit = limit > MOST_INDICES ? MOST_INDICES : (size_t)limit};
    for (size_t e = 0; e < p->count; e++, item += p->info.item_size)
        for (size_t f = 0; f < p->layout.n; f++) {
            rg_dtype t = p->layout.fields[f].dtype;
            void *at = item + p->layout.fields[f].offset;
            if (rg_cli_dtype_is_float(t))
                rg_cli_scalar_set(t, at, draw_real(m, r) + (on_diagonal(p, e) ? more : 0));
            else if (t == RG_DTYPE_BOOL)
                rg_cli_scalar_set_int(t, at, (int64_t)rg_cli_rng_below(r, 2), false);
            else
                rg_cli_scalar_set_int(t, at, draw_index(&d, r), false);
        }
}

bool rg_check_draw(rg_cli_binding *b, const bool *fixed, int manner, uint64_t seed) {
    const struct manner *m = &manners[manner];
    rg_cli_rng r = {rg_cli_hash(b->name) ^ (seed * UINT64_C(0x9e3779b97f4a7c15))};
    draw_integers(b, fixed, m, &r);
    if (!draw_shapes(b, fixed))
        return false;
    uint64_t limit = index_limit(b, m->indices == INSIDE_ALL || m->indices == DISTINCT_INSIDE_ALL);
    for (size_t i = 0; i < b->n; i++) {
        rg_cli_param *p = &b->params[i];
        if (fixed[i] || rg_cli_param_is_int(p))
            continue;
        if (!p->info.is_array && !rg_cli_param_resize(p, 0, NULL))
            return false;
        draw_data(p, m, p->info.is_array ? limit : 3, &r);
        p->filled = true;
    }
    return true;
}

const char *rg_check_drawn_text(const rg_cli_binding *b, const bool *fixed) {
    const char *s = "";
    for (size_t i = 0; i < b->n; i++)
        if (!fixed[i] && rg_cli_param_is_int(&b->params[i]) && b->params[i].filled)
            s = rg_cli_format(
                "%s%s%s=%lld", s, *s ? ", " : "", b->params[i].info.name,
                (long long)rg_cli_scalar_get_int(b->params[i].info.dtype, b->params[i].data));
    return s;
}
