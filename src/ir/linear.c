/* Infeasibility of small linear systems: equalities are substituted away while one of their
 * coefficients is a unit, then variables are eliminated by Fourier and Motzkin's method, each row
 * tightened to integers by the gcd of its coefficients.
 *
 * Every step only derives consequences, so a contradiction is a proof. A consequence that would
 * overflow or find no room is dropped: the answer is then at worst "no proof". */
#include "ir/linear.h"

#include <string.h>

static int64_t magnitude(int64_t v) {
    return v < 0 ? -v : v; /* INT64_MIN never gets into a row: see usable */
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static bool usable(const rg_linear_row *r) {
    for (uint32_t k = 0; k < RG_LINEAR_VARS; k++)
        if (r->coef[k] == INT64_MIN)
            return false;
    return r->constant != INT64_MIN;
}

/* Divides by the gcd of the coefficients. False: the row alone cannot be satisfied. */
static bool tighten(rg_linear_row *r, uint32_t nvars, bool *trivial) {
    int64_t g = 0;
    for (uint32_t k = 0; k < nvars; k++)
        if (r->coef[k])
            g = gcd(magnitude(r->coef[k]), g);
    *trivial = g == 0;
    if (g == 0)
        return r->equal ? r->constant == 0 : r->constant >= 0;
    if (g == 1)
        return true;
    int64_t rest = r->constant % g;
    if (r->equal && rest)
        return false;
    for (uint32_t k = 0; k < nvars; k++)
        r->coef[k] /= g;
    r->constant = r->constant / g - (rest < 0); /* floor */
    return true;
}

void rg_linear_add(rg_linear *s, const rg_linear_row *row) {
    if (s->nrows < RG_LINEAR_ROWS && usable(row))
        s->row[s->nrows++] = *row;
}

/* out = a * x + b * y; false on overflow */
static bool combine(rg_linear_row *out, int64_t a, const rg_linear_row *x, int64_t b,
                    const rg_linear_row *y, uint32_t nvars) {
    int64_t p, q;
    memset(out, 0, sizeof *out);
    for (uint32_t k = 0; k < nvars; k++)
        if (__builtin_mul_overflow(a, x->coef[k], &p) ||
            __builtin_mul_overflow(b, y->coef[k], &q) ||
            __builtin_add_overflow(p, q, &out->coef[k]))
            return false;
    if (__builtin_mul_overflow(a, x->constant, &p) || __builtin_mul_overflow(b, y->constant, &q) ||
        __builtin_add_overflow(p, q, &out->constant))
        return false;
    return usable(out);
}

static void drop(rg_linear *s, uint32_t k) {
    s->row[k] = s->row[--s->nrows];
}

/* Tightens all rows, drops the trivial and the repeated. False: contradiction. */
static bool clean(rg_linear *s) {
    for (uint32_t k = 0; k < s->nrows;) {
        bool trivial;
        if (!tighten(&s->row[k], s->nvars, &trivial))
            return false;
        if (trivial) {
            drop(s, k);
            continue;
        }
        bool gone = false;
        for (uint32_t j = 0; j < k && !gone; j++) {
            if (s->row[j].equal != s->row[k].equal ||
                memcmp(s->row[j].coef, s->row[k].coef, sizeof s->row[k].coef) != 0)
                continue;
            if (s->row[k].equal) {
                if (s->row[j].constant != s->row[k].constant)
                    return false;
            } else if (s->row[k].constant < s->row[j].constant) {
                s->row[j].constant = s->row[k].constant;
            }
            gone = true;
        }
        if (gone)
            drop(s, k);
        else
            k++;
    }
    return true;
}

/* Uses one equality with a unit coefficient to remove its variable. False: there is none. */
static bool substitute(rg_linear *s) {
    for (uint32_t k = 0; k < s->nrows; k++) {
        if (!s->row[k].equal)
            continue;
        for (uint32_t v = 0; v < s->nvars; v++) {
            if (magnitude(s->row[k].coef[v]) != 1)
                continue;
            rg_linear_row by = s->row[k];
            drop(s, k);
            for (uint32_t j = 0; j < s->nrows;) {
                rg_linear_row out;
                int64_t c = s->row[j].coef[v];
                if (c == 0) {
                    j++;
                } else if (combine(&out, 1, &s->row[j], -c * by.coef[v], &by, s->nvars)) {
                    out.equal = s->row[j].equal;
                    s->row[j++] = out;
                } else {
                    drop(s, j);
                }
            }
            return true;
        }
    }
    return false;
}

static void split_equalities(rg_linear *s) {
    uint32_t n = s->nrows;
    for (uint32_t k = 0; k < n; k++) {
        if (!s->row[k].equal)
            continue;
        s->row[k].equal = false;
        rg_linear_row other = {.constant = -s->row[k].constant};
        for (uint32_t v = 0; v < s->nvars; v++)
            other.coef[v] = -s->row[k].coef[v];
        rg_linear_add(s, &other);
    }
}

/* The variable whose elimination makes the fewest rows; nvars when none is left. */
static uint32_t cheapest(const rg_linear *s) {
    uint32_t best = s->nvars;
    int64_t best_cost = INT64_MAX;
    for (uint32_t v = 0; v < s->nvars; v++) {
        int64_t up = 0, down = 0;
        for (uint32_t k = 0; k < s->nrows; k++) {
            up += s->row[k].coef[v] > 0;
            down += s->row[k].coef[v] < 0;
        }
        if (up + down && up * down - up - down < best_cost) {
            best_cost = up * down - up - down;
            best = v;
        }
    }
    return best;
}

static void eliminate(rg_linear *s, uint32_t v) {
    uint32_t n = s->nrows;
    for (uint32_t i = 0; i < n; i++) {
        if (s->row[i].coef[v] <= 0)
            continue;
        for (uint32_t j = 0; j < n; j++) {
            rg_linear_row out;
            int64_t up = s->row[i].coef[v], down = -s->row[j].coef[v], g;
            if (down <= 0)
                continue;
            g = gcd(up, down);
            if (combine(&out, down / g, &s->row[i], up / g, &s->row[j], s->nvars))
                rg_linear_add(s, &out);
        }
    }
    for (uint32_t k = 0; k < s->nrows;) {
        if (s->row[k].coef[v])
            drop(s, k);
        else
            k++;
    }
}

bool rg_linear_infeasible(rg_linear *s) {
    do {
        if (!clean(s))
            return true;
    } while (substitute(s));
    split_equalities(s);
    for (;;) {
        if (!clean(s))
            return true;
        uint32_t v = cheapest(s);
        if (v == s->nvars)
            return false;
        eliminate(s, v);
    }
}
