/* Dead stores: writes to a local array that nobody reads before the array comes to life anew, is
 * copied over as a whole, or goes.
 *
 * The backward sweep of a loop puts memory back as it was, element by element; where the iteration
 * before begins with a copy of the whole array, or nothing reads it any more, that was for nothing.
 *
 * A loop that stores to every element, one after another, overwrites its array whole as well.
 *
 * Backwards over structured code, in two walks. The first finds for each region which arrays it
 * reads before it overwrites them whole (used), and which it surely overwrites whole (killed). The
 * second carries what is live: before a region that is used + (after - killed), and at the end of a
 * loop's body what is live after the loop or used by the next iteration. */
#include "opt/opt.h"

#include "ir/affine.h"
#include "opt/rewrite.h"

#include <string.h>

enum { MAX_NEST = 4 };
enum { MAX_FACTS = 1 << 23 }; /* regions times arrays: larger functions are left as they are */

typedef struct dse {
    rg_fn *f;
    rg_arena *scratch;
    uint32_t *number; /* [arrays] 1 + index into the sets; 0: not ours */
    uint32_t n;
    bool **used, **killed; /* [regions][n] */
    bool **covered;        /* [regions][n] of a `for`: what all its iterations overwrite */
    bool changed;
} dse;

/* A copy of what the recorded launch left there, which is what stands there already, up to
 * rounding: derivatives go to the stores before it, so it leaves them be. */
static bool is_kept(const rg_ins *i) {
    return i->op == RG_COPY && (i->flags & RG_INS_KEPT);
}

/* Does i overwrite all of its array? Of a copy: the array that it writes. */
static bool overwrites(const rg_fn *f, const rg_ins *i) {
    return i->op == RG_ALLOC || (i->op == RG_COPY && !is_kept(i) &&
                                 rg_array_at(f, i->array)->rank <= rg_array_at(f, i->array2)->rank);
}

static bool reads(const rg_ins *i) {
    return i->op == RG_LOAD || i->op == RG_EXTENT || i->op == RG_PAIR || i->nres || is_kept(i);
}

static void both(dse *d, bool *used, bool *killed, const bool *u, const bool *k) {
    for (uint32_t a = 0; a < d->n; a++) {
        used[a] = u[a] || (used[a] && !k[a]);
        killed[a] |= k[a];
    }
}

/* Does loop variable of `for` i run over [0, extent)? */
static bool runs_over(const rg_fn *f, rg_iid i, rg_val extent) {
    int64_t lo, by;
    if (!extent || !rg_val_const_int(f, rg_operand(f, i, 0), &lo) || lo != 0)
        return false;
    rg_affine hi = rg_affine_of(f, rg_operand(f, i, 1)), n = rg_affine_of(f, extent);
    return hi.ok && n.ok && rg_affine_difference(&hi, &n, &by) && by == 0;
}

/* Marks arrays whose every element is stored in region r, the loops around which, from the one in
 * question on, are path[0..n). */
static void covering(dse *d, rg_rid r, rg_iid *path, uint32_t n, bool *out) {
    const rg_fn *f = d->f;
    for (uint32_t q = 0; q < rg_region_at(f, r)->ins.n; q++) {
        rg_iid id = rg_region_at(f, r)->ins.at[q];
        const rg_ins *i = rg_ins_at(f, id);
        if (i->op == RG_FOR && n < MAX_NEST) {
            path[n] = id;
            covering(d, i->region[0], path, n + 1, out);
        }
        if (i->op != RG_STORE || !d->number[i->array])
            continue;
        const rg_ir_array *x = rg_array_at(f, i->array);
        bool all = x->rank == n && x->elem->nleaves == 1 && x->elem->leaves[0].ndims == 0;
        uint32_t seen = 0;
        for (uint32_t k = 0; k < n && all; k++) {
            rg_affine at = rg_affine_of(f, rg_operand(f, id, k));
            uint32_t l = 0;
            while (l < n &&
                   !(at.ok && at.n == 1 && at.coef[0] == 1 && at.constant == 0 &&
                     at.term[0] == rg_region_at(f, rg_ins_at(f, path[l])->region[0])->args.at[0]))
                l++;
            all = l < n && !(seen & 1u << l) && runs_over(f, path[l], x->extents[k]);
            seen |= 1u << l;
        }
        if (all)
            out[d->number[i->array] - 1] = true;
    }
}

static void covers(dse *d, rg_iid loop) {
    rg_rid body = rg_ins_at(d->f, loop)->region[0];
    rg_iid path[MAX_NEST] = {loop};
    bool *out = d->covered[body] = RG_NEW_N(d->scratch, bool, d->n);
    covering(d, body, path, 1, out);
    for (uint32_t a = 0; a < d->n; a++)
        out[a] &= !d->used[body][a]; /* read on the way: perhaps before it was stored */
}

static void summarise(dse *d, rg_rid r) {
    const rg_fn *f = d->f;
    bool *used = d->used[r] = RG_NEW_N(d->scratch, bool, d->n);
    bool *killed = d->killed[r] = RG_NEW_N(d->scratch, bool, d->n);
    for (uint32_t q = rg_region_at(f, r)->ins.n; q-- > 0;) {
        const rg_ins *i = rg_ins_at(f, rg_region_at(f, r)->ins.at[q]);
        for (int s = 0; s < 2; s++)
            if (i->region[s])
                summarise(d, i->region[s]);
        uint32_t a = i->array ? d->number[i->array] : 0, from;
        if (i->op == RG_IF) {
            bool *u = RG_NEW_N(d->scratch, bool, d->n), *k = RG_NEW_N(d->scratch, bool, d->n);
            for (uint32_t x = 0; x < d->n; x++) {
                u[x] = d->used[i->region[0]][x] || d->used[i->region[1]][x];
                k[x] = d->killed[i->region[0]][x] && d->killed[i->region[1]][x];
            }
            both(d, used, killed, u, k);
        } else if (i->region[0]) {
            if (i->op == RG_LOOP)
                d->covered[i->region[0]] = d->killed[i->region[0]];
            else if (i->op == RG_FOR)
                covers(d, rg_region_at(f, r)->ins.at[q]);
            else
                d->covered[i->region[0]] = RG_NEW_N(d->scratch, bool, d->n);
            both(d, used, killed, d->used[i->region[0]], d->covered[i->region[0]]);
        } else if (overwrites(f, i)) {
            if (a) {
                used[a - 1] = false;
                killed[a - 1] = true;
            }
        } else if (a && reads(i)) {
            used[a - 1] = true;
        }
        if ((i->op == RG_COPY || i->op == RG_PAIR) && (from = d->number[i->array2]) != 0)
            used[from - 1] = true;
    }
}

static void clean(dse *d, rg_rid r, bool *live) {
    rg_fn *f = d->f;
    uint32_t total = rg_region_at(f, r)->ins.n, to = total;
    for (uint32_t q = total; q-- > 0;) {
        rg_iid id = rg_region_at(f, r)->ins.at[q];
        const rg_ins *i = rg_ins_at(f, id);
        uint32_t a = i->array ? d->number[i->array] : 0, from;
        bool writes = rg_writes_element(i) || i->op == RG_COPY;
        if (a && writes && !i->nres && !live[a - 1]) {
            d->changed = true;
            continue;
        }
        rg_region_at(f, r)->ins.at[--to] = id;
        if (i->region[0]) {
            const rg_rid side[2] = {i->region[0], i->region[1]};
            bool branch = i->op == RG_IF;
            bool *after = RG_NEW_N(d->scratch, bool, d->n), *in = NULL;
            memcpy(after, live, d->n * sizeof *live);
            memset(live, 0, d->n * sizeof *live);
            for (int s = 0; s < 2 && side[s]; s++) {
                in = RG_NEW_N(d->scratch, bool, d->n);
                for (uint32_t x = 0; x < d->n; x++)
                    in[x] = after[x] || (!branch && d->used[side[s]][x]);
                clean(d, side[s], in);
                for (uint32_t x = 0; x < d->n; x++)
                    live[x] |= branch
                                   ? in[x]
                                   : d->used[side[s]][x] || (after[x] && !d->covered[side[s]][x]);
            }
            continue;
        }
        if (a && overwrites(f, i))
            live[a - 1] = false;
        else if (a && reads(i))
            live[a - 1] = true;
        if ((i->op == RG_COPY || i->op == RG_PAIR) && (from = d->number[i->array2]) != 0)
            live[from - 1] = true;
    }
    rg_region *g = rg_region_at(f, r);
    if (to) {
        memmove(g->ins.at, g->ins.at + to, (total - to) * sizeof *g->ins.at);
        g->ins.n = total - to;
    }
}

static bool pass(rg_fn *f, rg_arena *scratch) {
    dse d = {.f = f, .scratch = scratch, .number = RG_NEW_N(scratch, uint32_t, f->arrays.n)};
    for (rg_aid a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *x = rg_array_at(f, a);
        if (x->kind == RG_ARR_LOCAL && !(x->flags & RG_ARR_GROW))
            d.number[a] = ++d.n;
    }
    if (!d.n || (uint64_t)d.n * f->regions.n > MAX_FACTS)
        return false;
    d.used = RG_NEW_N(scratch, bool *, f->regions.n);
    d.killed = RG_NEW_N(scratch, bool *, f->regions.n);
    d.covered = RG_NEW_N(scratch, bool *, f->regions.n);
    summarise(&d, f->body);
    clean(&d, f->body, RG_NEW_N(scratch, bool, d.n));
    return d.changed;
}

bool rg_opt_dse(rg_fn *f) {
    return rg_opt_with_scratch(f, pass);
}
