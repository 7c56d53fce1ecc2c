/* Arrays whose elements are overwritten after they were read.
 *
 * The backward sweep walks the memory back as well: when it enters a region from its end, tracked
 * arrays hold what they held at that end, and when it leaves at the start, what they held there.
 * Straight-line stores keep the old value as an SSA value. A loop logs every element that an
 * iteration overwrites (where it was, what it held), undoes the log to reach the iteration's
 * start, sweeps the iteration forward again and then backward. Where a parallel loop writes the
 * array, the whole array is copied instead: before the parallel, or once for each iteration of
 * the serial loop around it, or for each block of steps between checkpoints. A parameter array is
 * tracked in a workspace that starts as a copy of its old value: the user's memory is never
 * written. */
#include "ad/adjoint.h"

#include "ir/affine.h"

rg_aid rg_adj_frame_array(rg_adj *s, const char *name, const rg_elem *elem, uint32_t rank,
                          uint32_t flags) {
    rg_fn *g = s->g;
    rg_ir_array r = {
        .name = name, .kind = RG_ARR_LOCAL, .flags = flags, .elem = elem, .rank = rank};
    r.extents = RG_NEW_N(s->arena, rg_val, rank ? rank : 1);
    r.loc = s->b->loc;
    rg_aid a = rg_array_new(g, &r);
    rg_iid i = rg_ins_new(g, RG_ALLOC, s->b->loc);
    rg_ins_at(g, i)->array = a;
    rg_region_insert(g, s->frame, 0, i);
    return a;
}

/* Does an atomic min, max or product touch a? Those that only one thread does are gone by now. */
static bool onto_elements(const rg_fn *f, rg_aid a) {
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (ins->parent && ins->op == RG_RMW && ins->array == a &&
            rg_mem_is_float(rg_ins_leaf(f, ins)->mem))
            return true;
    }
    return false;
}

void rg_adj_classify(rg_adj *s) {
    const rg_fn *f = s->f;
    s->keep = RG_NEW_N(s->arena, rg_keep, f->arrays.n);
    s->life = RG_NEW_N(s->arena, rg_rid, f->arrays.n);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        s->life[a] = f->body;
    for (uint32_t i = 1; i < f->ins.n; i++)
        if (f->ins.at[i].op == RG_ALLOC && f->ins.at[i].parent)
            s->life[f->ins.at[i].array] = f->ins.at[i].parent;
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        rg_iid conflict[2];
        if (s->varied->array[a] && onto_elements(f, a))
            s->keep[a] = RG_KEEP_TRACKED; /* values from before and after are wanted */
        else if (!s->varied->loaded[a] || !s->varied->stored[a])
            s->keep[a] = RG_KEEP_NONE;
        else
            s->keep[a] = rg_array_once(f, a, conflict) ? RG_KEEP_SETTLED : RG_KEEP_TRACKED;
    }
}

/* Calls visit for each write to a tracked array from outside `loop`, in region r and below. */
static void each_write(rg_adj *s, rg_rid r, rg_iid loop, bool in_parallel,
                       void (*visit)(rg_adj *, rg_iid, bool, void *), void *user) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (rg_writes_element(ins) && s->keep[ins->array] == RG_KEEP_TRACKED &&
            !rg_adj_is_left_out(s, i) &&
            !rg_region_inside(f, s->life[ins->array], rg_ins_at(f, loop)->region[0]))
            visit(s, i, in_parallel, user);
        for (int n = 0; n < 2; n++)
            if (ins->region[n])
                each_write(s, ins->region[n], loop, in_parallel || ins->op == RG_PARALLEL, visit,
                           user);
    }
}

/* Few elements, and that is known: a copy is cheaper than a log. */
static bool small(rg_adj *s, rg_aid a) {
    const rg_ir_array *d = rg_array_at(s->g, s->data[a]);
    int64_t n = d->elem->nleaves, c;
    for (uint32_t k = 0; k < d->rank; k++) {
        if (!d->extents[k] || !rg_val_const_int(s->g, d->extents[k], &c) || c < 0 || c > 256)
            return false;
        n *= c;
        if (n > 256)
            return false;
    }
    return true;
}

/* Do iterations that run at the same time share array a, where the sweep is? One of them may
 * neither copy it nor put it back as a whole: it would take the elements of others along. */
static bool is_shared(const rg_adj *s, rg_aid a) {
    const rg_fn *f = s->f;
    if (!s->in_parallel)
        return false;
    for (rg_rid r = s->life[a]; rg_region_at(f, r)->owner;
         r = rg_ins_at(f, rg_region_at(f, r)->owner)->parent)
        if (rg_ins_at(f, rg_region_at(f, r)->owner)->op == RG_PARALLEL)
            return false;
    return true;
}

static void whole_copies(rg_adj *s, rg_aid a, rg_saved *out) {
    const rg_ir_array *d = rg_array_at(s->g, s->data[a]);
    rg_val ext[RG_MAX_AXES + 1] = {out->trips};
    for (uint32_t k = 0; k < d->rank && k < RG_MAX_AXES; k++)
        ext[k + 1] = d->extents[k];
    const char *name = rg_format(s->arena, "%s_saved", rg_array_at(s->f, a)->name);
    uint32_t rank = d->rank + 1;
    const rg_elem *elem = d->elem;
    rg_aid copies = rg_b_alloc(s->b, name, elem, rank, ext, RG_ARR_SAVE);
    RG_PUSH(s->arena, &out->wholes, (rg_whole){a, copies, false});
}

static void add_log(rg_adj *s, rg_iid i, bool in_parallel, void *user) {
    rg_saved *out = user;
    const rg_ins *ins = rg_ins_at(s->f, i);
    const rg_ir_array *r = rg_array_at(s->f, ins->array);
    for (uint32_t k = 0; k < out->wholes.n; k++)
        if (out->wholes.at[k].array == ins->array)
            return;
    bool shared = is_shared(s, ins->array);
    if (in_parallel && !shared) {
        if (!out->trips || s->in_if || s->in_parallel) {
            rg_aid grown = rg_adj_frame_array(s, rg_format(s->arena, "%s_saved", r->name), r->elem,
                                              1, RG_ARR_SAVE | RG_ARR_GROW);
            RG_PUSH(s->arena, &out->wholes, (rg_whole){ins->array, grown, true});
            return;
        }
        whole_copies(s, ins->array, out);
        return;
    }
    bool known = out->trips && !s->in_if;
    if (rg_adj_undoable(s->f, out->loop, ins->array, false))
        return rg_adj_undo_add(s, out->loop, i, out);
    if (!shared && known && (small(s, ins->array) || rg_adj_sweeps(s->f, out->loop, ins->array))) {
        whole_copies(s, ins->array, out);
        return;
    }
    if (known && rg_adj_undoable(s->f, out->loop, ins->array, true))
        return rg_adj_undo_add(s, out->loop, i, out);
    for (uint32_t k = 0; k < out->logs.n; k++)
        if (out->logs.at[k].array == ins->array && out->logs.at[k].leaf == ins->leaf)
            return;
    const rg_leaf *leaf = rg_ins_leaf(s->f, ins);
    const rg_elem *i64 = rg_elem_scalar(RG_M_I64);
    uint32_t grow = RG_ARR_SAVE | RG_ARR_GROW;
    rg_log l = {.array = ins->array, .leaf = ins->leaf, .axes = r->rank + leaf->ndims};
    l.counter = rg_adj_frame_array(s, rg_format(s->arena, "%s_entries", r->name), i64, 0, 0);
    l.starts = rg_adj_frame_array(s, rg_format(s->arena, "%s_starts", r->name), i64, 1, grow);
    l.old = rg_adj_frame_array(s, rg_format(s->arena, "%s_old", r->name), rg_elem_scalar(leaf->mem),
                               1, grow);
    l.index = RG_NEW_N(s->arena, rg_aid, l.axes + 1);
    for (uint32_t k = 0; k < l.axes; k++)
        l.index[k] =
            rg_adj_frame_array(s, rg_format(s->arena, "%s_index%u", r->name, k), i64, 1, grow);
    rg_b_store(s->b, l.counter, 0, NULL, rg_b_int(s->b, RG_I64, 0), 0);
    RG_PUSH(s->arena, &out->logs, l);
}

/* Written by a parallel anywhere in the loop: the whole array is copied, and not logged. */
static void add_whole(rg_adj *s, rg_iid i, bool in_parallel, void *user) {
    if (in_parallel)
        add_log(s, i, true, user);
}

static void add_rest(rg_adj *s, rg_iid i, bool in_parallel, void *user) {
    if (!in_parallel)
        add_log(s, i, false, user);
}

void rg_adj_prepare_saves(rg_adj *s, rg_iid loop, rg_saved *out) {
    rg_rid body = rg_ins_at(s->f, loop)->region[0];
    out->loop = loop;
    /* A block of many steps may write an element many times: its start is kept whole. */
    bool whole = (rg_ins_at(s->f, loop)->flags & RG_INS_CHECKPOINT) != 0;
    each_write(s, body, loop, whole, add_whole, out);
    each_write(s, body, loop, whole, add_rest, out);
}

/* Every scalar of a tracked array to or from place k of a growing array. */
static void each_element(rg_adj *s, const rg_whole *w, rg_val k, bool restore) {
    rg_build *b = s->b;
    rg_aid a = s->data[w->array];
    uint32_t rank = rg_array_at(s->g, a)->rank;
    const rg_elem *elem = rg_array_at(s->g, a)->elem;
    rg_val zero = rg_b_int(b, RG_I64, 0), idx[2 * RG_MAX_AXES], at[RG_MAX_AXES + 1], place = k;
    for (uint32_t d = 0; d < rank; d++) {
        rg_val n = rg_array_at(s->g, a)->extents[d];
        rg_iid loop = rg_b_for(b, zero, n, NULL, 0, 0);
        rg_b_push(b, rg_ins_at(s->g, loop)->region[0]);
        idx[d] = rg_b_arg(b, 0);
        place = rg_b_op2(b, RG_ADD, rg_b_op2(b, RG_MUL, place, n), idx[d]);
    }
    for (uint32_t l = 0; l < elem->nleaves; l++) {
        const rg_leaf *leaf = &elem->leaves[l];
        at[0] = place;
        for (uint32_t d = 0; d < leaf->ndims; d++) {
            rg_iid loop = rg_b_for(b, zero, rg_b_int(b, RG_I64, leaf->dims[d]), NULL, 0, 0);
            rg_b_push(b, rg_ins_at(s->g, loop)->region[0]);
            idx[rank + d] = at[d + 1] = rg_b_arg(b, 0);
        }
        if (restore)
            rg_b_store(b, a, l, idx, rg_b_load(b, w->copies, l, at, RG_INS_SAVE), 0);
        else
            rg_b_store(b, w->copies, l, at, rg_b_load(b, a, l, idx, 0), RG_INS_SAVE);
        for (uint32_t d = 0; d < leaf->ndims; d++) {
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
        }
    }
    for (uint32_t d = 0; d < rank; d++) {
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
    }
}

void rg_adj_begin_iteration(rg_adj *s, rg_saved *v, rg_val k) {
    v->at = k;
    for (uint32_t n = 0; n < v->logs.n; n++)
        rg_b_store(s->b, v->logs.at[n].starts, 0, &k,
                   rg_b_load(s->b, v->logs.at[n].counter, 0, NULL, 0), RG_INS_SAVE);
    for (uint32_t n = 0; n < v->wholes.n; n++)
        if (v->wholes.at[n].grows)
            each_element(s, &v->wholes.at[n], k, false);
        else
            rg_b_copy(s->b, v->wholes.at[n].copies, s->data[v->wholes.at[n].array], &k, 1);
}

void rg_adj_log_store(rg_adj *s, rg_iid access, const rg_val *idx, rg_val old) {
    const rg_ins *ins = rg_ins_at(s->f, access);
    if (rg_adj_undo_log(s, access, old))
        return;
    for (uint32_t n = 0; n < s->logging->logs.n; n++) {
        const rg_log *l = &s->logging->logs.at[n];
        if (l->array != ins->array || l->leaf != ins->leaf)
            continue;
        rg_build *b = s->b;
        rg_val at = rg_b_load(b, l->counter, 0, NULL, 0);
        for (uint32_t k = 0; k < l->axes; k++)
            rg_b_store(b, l->index[k], 0, &at, rg_b_cast(b, RG_I64, idx[k]), RG_INS_SAVE);
        rg_b_store(b, l->old, 0, &at, old, RG_INS_SAVE);
        rg_b_store(b, l->counter, 0, NULL, rg_b_op2(b, RG_ADD, at, rg_b_int(b, RG_I64, 1)), 0);
        return;
    }
}

void rg_adj_restore_iteration(rg_adj *s, rg_saved *v, rg_val k) {
    rg_build *b = s->b;
    rg_adj_undo(s, v->loop, v, k);
    for (uint32_t n = 0; n < v->wholes.n; n++)
        if (v->wholes.at[n].grows)
            each_element(s, &v->wholes.at[n], k, true);
        else
            rg_b_copy(b, s->data[v->wholes.at[n].array], v->wholes.at[n].copies, &k, 1);
    for (uint32_t n = 0; n < v->logs.n; n++) {
        const rg_log *l = &v->logs.at[n];
        rg_val from = rg_b_load(b, l->starts, 0, &k, RG_INS_SAVE);
        rg_val to = rg_b_load(b, l->counter, 0, NULL, 0);
        rg_iid undo = rg_b_for(b, from, to, NULL, 0, RG_INS_REVERSE);
        rg_b_push(b, rg_ins_at(s->g, undo)->region[0]);
        rg_val e = rg_b_arg(b, 0), idx[RG_MAX_AXES];
        for (uint32_t q = 0; q < l->axes; q++)
            idx[q] = rg_b_load(b, l->index[q], 0, &e, RG_INS_SAVE);
        rg_b_store(b, s->data[l->array], l->leaf, idx, rg_b_load(b, l->old, 0, &e, RG_INS_SAVE), 0);
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        rg_b_store(b, l->counter, 0, NULL, from, 0);
    }
}

static void add_snapshot(rg_adj *s, rg_iid i, bool in_parallel, void *user) {
    (void)in_parallel;
    rg_wholes *out = user;
    rg_aid a = rg_ins_at(s->f, i)->array;
    for (uint32_t k = 0; k < out->n; k++)
        if (out->at[k].array == a)
            return;
    const rg_ir_array *d = rg_array_at(s->g, s->data[a]);
    const char *name = rg_format(s->arena, "%s_before", rg_array_at(s->f, a)->name);
    rg_val ext[RG_MAX_AXES] = {0};
    for (uint32_t k = 0; k < d->rank && k < RG_MAX_AXES; k++)
        ext[k] = d->extents[k];
    uint32_t rank = d->rank;
    const rg_elem *elem = d->elem;
    rg_aid copies = rg_b_alloc(s->b, name, elem, rank, ext, RG_ARR_SAVE);
    RG_PUSH(s->arena, out, (rg_whole){a, copies, false});
}

void rg_adj_snapshot_alloc(rg_adj *s, rg_iid parallel) {
    each_write(s, rg_ins_at(s->f, parallel)->region[0], parallel, true, add_snapshot,
               &s->snapshots[parallel]);
}

void rg_adj_snapshot(rg_adj *s, rg_iid parallel) {
    rg_wholes *w = &s->snapshots[parallel];
    if (s->in_if == 0) { /* otherwise made before the if, by the forward sweep of the branch */
        *w = (rg_wholes){0};
        rg_adj_snapshot_alloc(s, parallel);
    }
    for (uint32_t k = 0; k < w->n; k++)
        rg_b_copy(s->b, w->at[k].copies, s->data[w->at[k].array], NULL, 0);
}

void rg_adj_restore_snapshot(rg_adj *s, rg_iid parallel) {
    const rg_wholes *w = &s->snapshots[parallel];
    for (uint32_t k = 0; k < w->n; k++)
        rg_b_copy(s->b, s->data[w->at[k].array], w->at[k].copies, NULL, 0);
}
