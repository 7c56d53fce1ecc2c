/* Memory instructions: what each does with the place that it names; local arrays; whole-array
 * copies; the slots. */
#include "emit/spirv/place.h"

static bool is_own(const rg_spv_fn *c, rg_aid a) {
    return !c->arrays[a].outer;
}

static void set_result(rg_spv_fn *c, rg_iid i, uint32_t v) {
    c->id[rg_result(c->f, i, 0)] = v;
}

static uint32_t value_operand(rg_spv_fn *c, rg_iid i) {
    return rg_spv_val(c, rg_operand(c->f, i, c->f->ins.at[i].nopnd - 1));
}

void rg_spv_load(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    rg_spv_place p = rg_spv_place_of(c, i);
    rg_spv_check_type(c, rg_mem_value(p.leaf->mem), ins->loc);
    if ((ins->flags & RG_INS_ATOMIC) && !is_own(c, ins->array) && !p.guard &&
        rg_spv_atomic_can(c, p.leaf->mem, ins->loc)) {
        uint32_t shift, word = rg_spv_place_word(c, &p, false, &shift);
        set_result(c, i, rg_spv_atomic_read(c, p.leaf->mem, word, shift));
        return;
    }
    set_result(c, i, rg_spv_place_load(c, &p));
}

/* An array that grows is as long as the last element stored makes it. */
static void lengthen(rg_spv_fn *c, const rg_spv_place *p) {
    rg_spv *s = c->s;
    uint32_t length = c->arrays[p->array].length;
    if (!length)
        return;
    uint32_t n = p->element, was = RG_SPV_OP(c, SpvOpLoad, s->t_u32, length);
    if (c->index64)
        n = RG_SPV_OP(c, SpvOpUConvert, s->t_u32, n);
    n = RG_SPV_OP(c, SpvOpIAdd, s->t_u32, n, rg_spv_u32(s, 1));
    uint32_t more = RG_SPV_OP(c, SpvOpUGreaterThan, s->t_bool, n, was);
    RG_SPV_DO(c, SpvOpStore, length, RG_SPV_OP(c, SpvOpSelect, s->t_u32, more, n, was));
}

static void atomic_at(rg_spv_fn *c, const rg_spv_place *p, rg_red kind, uint32_t v, rg_loc loc,
                      uint32_t *old, uint32_t *fresh) {
    rg_mem mem = p->leaf->mem;
    bool plain = rg_spv_element_plain(c->s, c->f->arrays.at[p->array].elem);
    bool direct = rg_spv_atomic_direct(c, kind, mem) && (plain || !c->address);
    if (!direct && !rg_spv_atomic_can(c, mem, loc)) { /* an error was given */
        if (old)
            *old = rg_spv_null(c->s, rg_spv_value_type(c->s, rg_mem_value(mem)));
        if (fresh)
            *fresh = rg_spv_null(c->s, rg_spv_value_type(c->s, rg_mem_value(mem)));
        return;
    }
    uint32_t shift, word = rg_spv_place_word(c, p, direct, &shift);
    rg_spv_atomic(c, kind, mem, word, direct ? word : 0, shift, v, old, fresh);
}

/* The load in the same region of the element that store i sets to a constant; 0: none. */
static rg_iid load_before(const rg_spv_fn *c, rg_iid i) {
    const rg_fn *f = c->f;
    const rg_ins *ins = &f->ins.at[i];
    const rg_region *g = &f->regions.at[ins->parent];
    uint32_t n = rg_ins_nindices(f, ins);
    if (rg_def_op(f, rg_operand(f, i, n)) != RG_CONST)
        return 0;
    for (uint32_t k = 0; k < g->ins.n && g->ins.at[k] != i; k++) {
        const rg_ins *l = &f->ins.at[g->ins.at[k]];
        bool same = l->op == RG_LOAD && l->array == ins->array && l->leaf == ins->leaf;
        for (uint32_t d = 0; d < n && same; d++)
            same = rg_operand(f, g->ins.at[k], d) == rg_operand(f, i, d);
        if (same)
            return g->ins.at[k];
    }
    return 0;
}

/* A graphics card is brought to a crawl by stores to what it is still loading (three to ten times
 * slower was measured on one), and an adjoint that takes a cotangent and clears it makes just
 * those: the constant needs nobody's value. So it is mixed with the value loaded, such that it
 * stays what it is, and has to wait. */
static uint32_t after_load(rg_spv_fn *c, rg_iid i, uint32_t v) {
    rg_iid load = c->s->o->caps.lanes > 1 ? load_before(c, i) : 0;
    rg_spv *s = c->s;
    if (!load)
        return v;
    rg_val loaded = rg_result(c->f, load, 0);
    rg_type t = c->f->vals.at[loaded].type;
    if (!c->id[loaded] || !(t == RG_F32 || (t == RG_F64 && s->o->caps.i64)))
        return v;
    uint32_t type = rg_spv_value_type(s, t), bits = t == RG_F32 ? s->t_u32 : rg_spv_int(s, 64);
    uint32_t none = rg_spv_zero_bits(c);
    if (t == RG_F64)
        none = RG_SPV_OP(c, SpvOpUConvert, bits, none);
    uint32_t x = RG_SPV_OP(c, SpvOpBitcast, bits, c->id[loaded]);
    x = RG_SPV_OP(c, SpvOpBitwiseAnd, bits, x, none);
    x = RG_SPV_OP(c, SpvOpBitwiseOr, bits, x, RG_SPV_OP(c, SpvOpBitcast, bits, v));
    return RG_SPV_OP(c, SpvOpBitcast, type, x);
}

void rg_spv_store(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    uint32_t v = after_load(c, i, value_operand(c, i));
    rg_spv_place p = rg_spv_place_of(c, i);
    rg_spv_check_type(c, rg_mem_value(p.leaf->mem), ins->loc);
    lengthen(c, &p);
    if ((ins->flags & RG_INS_ATOMIC) && !is_own(c, ins->array) && !p.guard)
        atomic_at(c, &p, RG_RED_SET, v, ins->loc, NULL, NULL);
    else
        rg_spv_place_store(c, &p, v);
}

bool rg_spv_addto_plain(const rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    bool shared = (ins->flags & (RG_INS_ATOMIC | RG_INS_PRIVATE | RG_INS_ACCUM)) != 0;
    return !shared || is_own(c, ins->array) || !c->task->parallel;
}

rg_spv_addition rg_spv_addto_begin(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    rg_spv_place p = rg_spv_place_of(c, i);
    rg_spv_check_type(c, rg_mem_value(p.leaf->mem), ins->loc);
    rg_spv_addition half = {RG_NEW(c->s->arena, rg_spv_place), 0};
    *half.place = p;
    half.old = rg_spv_place_load(c, &p);
    return half;
}

void rg_spv_addto_end(rg_spv_fn *c, rg_iid i, const rg_spv_addition *half) {
    rg_type t = rg_mem_value(half->place->leaf->mem);
    uint32_t v = value_operand(c, i);
    rg_spv_place_store(c, half->place, rg_spv_combine(c, RG_RED_ADD, t, half->old, v));
}

void rg_spv_addto(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    if (rg_spv_addto_plain(c, i)) {
        rg_spv_addition half = rg_spv_addto_begin(c, i);
        rg_spv_addto_end(c, i, &half);
        return;
    }
    uint32_t v = value_operand(c, i);
    rg_spv_place p = rg_spv_place_of(c, i);
    rg_spv_check_type(c, rg_mem_value(p.leaf->mem), ins->loc);
    atomic_at(c, &p, RG_RED_ADD, v, ins->loc, NULL, NULL);
}

void rg_spv_rmw(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    uint32_t v = value_operand(c, i), old = 0, fresh = 0;
    rg_spv_place p = rg_spv_place_of(c, i);
    rg_type t = rg_mem_value(p.leaf->mem);
    rg_spv_check_type(c, t, ins->loc);
    bool want_new = ins->nres && (ins->flags & RG_INS_CAPTURE_NEW);
    if (is_own(c, ins->array) || !c->task->parallel) {
        old = rg_spv_place_load(c, &p);
        fresh = rg_spv_wrap(c, p.leaf->mem, t, rg_spv_combine(c, (rg_red)ins->imm.i, t, old, v));
        rg_spv_place_store(c, &p, fresh);
    } else {
        atomic_at(c, &p, (rg_red)ins->imm.i, v, ins->loc, ins->nres ? &old : NULL,
                  want_new ? &fresh : NULL);
        if (want_new)
            fresh = rg_spv_wrap(c, p.leaf->mem, t, fresh);
    }
    if (ins->nres)
        set_result(c, i, want_new ? fresh : old);
}

/* ---- local arrays ---- */

static uint64_t inner_count(const rg_leaf *l) {
    uint64_t n = 1;
    for (uint32_t d = 0; d < l->ndims; d++)
        n *= (uint64_t)l->dims[d];
    return n;
}

/* A loop over [0, n); start: returns the counter with the body open; end closes it. */
typedef struct counted {
    uint32_t header, next, merge, counter, at;
} counted;

static counted count_to(rg_spv_fn *c, uint32_t n) {
    rg_spv *s = c->s;
    counted l = {.header = rg_spv_id(s), .next = rg_spv_id(s), .merge = rg_spv_id(s)};
    uint32_t body = rg_spv_id(s), from = c->block;
    rg_spv_branch(c, l.header);
    rg_spv_label(c, l.header);
    l.counter = rg_spv_phi(c, c->t_index, rg_spv_const_index(c, 0), from, 0, l.next);
    l.at = c->out->n - 2;
    uint32_t more = RG_SPV_OP(c, SpvOpSLessThan, s->t_bool, l.counter, n);
    RG_SPV_DO(c, SpvOpLoopMerge, l.merge, l.next, SpvLoopControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, more, body, l.merge);
    rg_spv_label(c, body);
    return l;
}

static void count_end(rg_spv_fn *c, const counted *l) {
    rg_spv_branch(c, l->next);
    rg_spv_label(c, l->next);
    uint32_t next = RG_SPV_OP(c, SpvOpIAdd, c->t_index, l->counter, rg_spv_const_index(c, 1));
    c->out->at[l->at] = next;
    rg_spv_branch(c, l->header);
    rg_spv_label(c, l->merge);
}

/* Indices inside the element from the number of the scalar in its leaf. */
static void split_inner(rg_spv_fn *c, rg_spv_place *p, uint32_t number) {
    for (uint32_t d = p->leaf->ndims; d-- > 0;) {
        uint32_t n = rg_spv_const_index(c, (uint64_t)p->leaf->dims[d]);
        p->inner[d] = d ? RG_SPV_OP(c, SpvOpUMod, c->t_index, number, n) : number;
        if (d)
            number = RG_SPV_OP(c, SpvOpUDiv, c->t_index, number, n);
    }
}

/* Sets n elements of an array of the task's own to zero. */
static void clear(rg_spv_fn *c, rg_aid a, uint32_t n) {
    const rg_elem *e = c->f->arrays.at[a].elem;
    counted l = count_to(c, n);
    for (uint32_t k = 0; k < e->nleaves; k++) {
        uint64_t m = inner_count(&e->leaves[k]);
        counted in = {0};
        rg_spv_place p;
        if (m > 1) {
            in = count_to(c, rg_spv_const_index(c, m));
            p = rg_spv_place_at(c, a, k, l.counter);
            split_inner(c, &p, in.counter);
        } else {
            p = rg_spv_place_at(c, a, k, l.counter);
            split_inner(c, &p, rg_spv_const_index(c, 0));
        }
        p.guard = 0; /* n is no more than there is */
        rg_type t = rg_mem_value(e->leaves[k].mem);
        uint32_t zero = t == RG_BOOL          ? rg_spv_const_bool(c->s, false)
                        : rg_type_is_float(t) ? rg_spv_real(c, t, 0)
                                              : rg_spv_const_int(c->s, t, 0);
        rg_spv_place_store(c, &p, zero);
        if (m > 1)
            count_end(c, &in);
    }
    count_end(c, &l);
}

static bool has_extent_op(const rg_spv_fn *c, rg_aid a) {
    for (uint32_t k = 1; k < c->f->ins.n; k++) {
        const rg_ins *i = &c->f->ins.at[k];
        if ((i->op == RG_EXTENT && i->array == a) ||
            (i->op == RG_COPY && (i->array == a || i->array2 == a)))
            return true;
    }
    return false;
}

/* Type of what a leaf's column or variable holds. */
static uint32_t held_type(rg_spv_fn *c, const rg_leaf *l) {
    rg_type t = rg_mem_value(l->mem);
    return t == RG_BOOL ? c->s->t_u32 : rg_spv_value_type(c->s, t);
}

/* The zeros that a variable begins with. A driver that must not see literals sees none here. */
static uint32_t cleared(rg_spv_fn *c, uint32_t type, rg_type t, uint64_t n) {
    if (!c->s->o->caps.hide_literals || !rg_type_is_float(t))
        return rg_spv_null(c->s, type);
    uint32_t *zeros = RG_NEW_N(c->s->arena, uint32_t, n + 1);
    for (uint64_t k = 0; k < n; k++)
        zeros[k] = rg_spv_real(c, t, 0);
    return rg_spv_emit(c, SpvOpCompositeConstruct, type, zeros, (uint32_t)n);
}

static void take_variables(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    const rg_ir_array *a = &c->f->arrays.at[ins->array];
    rg_spv_array_state *st = &c->arrays[ins->array];
    uint64_t count = 1;
    for (uint32_t k = 0; k < ins->nopnd; k++) {
        int64_t n = 0;
        rg_val_const_int(c->f, rg_operand(c->f, i, k), &n);
        count *= n > 0 ? (uint64_t)n : 0;
    }
    for (uint32_t k = 0; k < a->elem->nleaves; k++) {
        const rg_leaf *leaf = &a->elem->leaves[k];
        uint64_t n = count * inner_count(leaf);
        n = n ? n : 1;
        uint32_t type = rg_spv_array(c->s, held_type(c, leaf), (uint32_t)n);
        if (!st->column[k]) {
            st->column[k] = rg_spv_variable(c, type);
            rg_spv_name(c->s, st->column[k], a->name);
        }
        if (a->flags & RG_ARR_ZERO)
            RG_SPV_DO(c, SpvOpStore, st->column[k], cleared(c, type, rg_mem_value(leaf->mem), n));
    }
}

/* An extent as a count: none below 0. */
static uint32_t at_least_0(rg_spv_fn *c, uint32_t n) {
    uint32_t zero = rg_spv_const_index(c, 0);
    uint32_t less = RG_SPV_OP(c, SpvOpSLessThan, c->s->t_bool, n, zero);
    return RG_SPV_OP(c, SpvOpSelect, c->t_index, less, zero, n);
}

static void take_scratch(rg_spv_fn *c, rg_iid i) {
    rg_spv *s = c->s;
    const rg_ins *ins = &c->f->ins.at[i];
    const rg_ir_array *a = &c->f->arrays.at[ins->array];
    rg_spv_array_state *st = &c->arrays[ins->array];
    uint32_t k = st->scratch - 1;
    const rg_task_scratch *q = &c->task->scratch.at[k];
    if (!st->capacity) {
        st->capacity = rg_spv_arg_index(c, c->layout->capacity[k]);
        for (uint32_t n = 0; n < a->elem->nleaves; n++) {
            uint32_t bytes = rg_mem_size(a->elem->leaves[n].mem) == 8 && s->o->caps.i64 ? 8 : 4;
            st->column[n] = rg_spv_arg_reference(c, c->layout->column[k] + 8 * n, bytes);
        }
    }
    if (a->flags & RG_ARR_GROW) {
        if (a->flags & RG_ARR_ZERO)
            clear(c, ins->array, st->capacity);
        return;
    }
    uint32_t count = rg_spv_const_index(c, 1);
    for (uint32_t d = 0; d < ins->nopnd; d++) {
        uint32_t n = at_least_0(c, st->extent[d]);
        count = d ? RG_SPV_OP(c, SpvOpIMul, c->t_index, count, n) : n;
    }
    if (q->need) {
        /* Too small: say so. Accesses mind the capacity themselves. */
        uint32_t over = RG_SPV_OP(c, SpvOpUGreaterThan, s->t_bool, count, st->capacity);
        uint32_t fits = count, merge = rg_spv_if(c, over);
        uint32_t at = rg_spv_slot_word(c, 2 * (q->need - 1), 4, false);
        uint32_t wanted = c->index64 ? RG_SPV_OP(c, SpvOpUConvert, s->t_u32, count) : count;
        RG_SPV_OP(c, SpvOpAtomicUMax, s->t_u32, at, rg_spv_u32(s, SpvScopeDevice), rg_spv_u32(s, 0),
                  wanted);
        rg_spv_branch(c, merge);
        rg_spv_label(c, merge);
        count = RG_SPV_OP(c, SpvOpSelect, c->t_index, over, st->capacity, fits);
    }
    if (a->flags & RG_ARR_ZERO)
        clear(c, ins->array, count);
}

void rg_spv_alloc(rg_spv_fn *c, rg_iid i) {
    rg_spv *s = c->s;
    const rg_ins *ins = &c->f->ins.at[i];
    const rg_ir_array *a = &c->f->arrays.at[ins->array];
    rg_spv_array_state *st = &c->arrays[ins->array];
    for (uint32_t k = 0; k < a->elem->nleaves; k++)
        rg_spv_check_type(c, rg_mem_value(a->elem->leaves[k].mem), ins->loc);
    if (!st->column) {
        st->column = RG_NEW_N(s->arena, uint32_t, a->elem->nleaves + 1);
        st->extent = RG_NEW_N(s->arena, uint32_t, a->rank + 1);
    }
    for (uint32_t k = 0; k < ins->nopnd; k++)
        st->extent[k] = rg_spv_index(c, rg_operand(c->f, i, k));
    if (a->flags & RG_ARR_GROW) {
        if (!st->length && has_extent_op(c, ins->array))
            st->length = rg_spv_variable(c, s->t_u32);
        if (st->length)
            RG_SPV_DO(c, SpvOpStore, st->length, rg_spv_u32(s, 0));
    }
    if (st->scratch)
        take_scratch(c, i);
    else
        take_variables(c, i);
}

/* ---- whole arrays ---- */

void rg_spv_copy(rg_spv_fn *c, rg_iid i) {
    const rg_fn *f = c->f;
    const rg_ins *ins = &f->ins.at[i];
    const rg_ir_array *to = &f->arrays.at[ins->array], *from = &f->arrays.at[ins->array2];
    uint32_t lead_to = to->rank > from->rank ? to->rank - from->rank : 0;
    uint32_t lead_from = from->rank > to->rank ? from->rank - to->rank : 0;
    uint32_t n = rg_spv_const_index(c, 1), first_to, first_from;
    for (uint32_t k = lead_from; k < from->rank; k++) {
        uint32_t x = rg_spv_extent(c, ins->array2, k);
        n = k > lead_from ? RG_SPV_OP(c, SpvOpIMul, c->t_index, n, x) : x;
    }
    first_to = rg_spv_linear(c, i, ins->array, lead_to);
    first_from = rg_spv_linear(c, i, ins->array2, lead_from);
    first_to = RG_SPV_OP(c, SpvOpIMul, c->t_index, first_to, n);
    first_from = RG_SPV_OP(c, SpvOpIMul, c->t_index, first_from, n);
    counted l = count_to(c, n);
    uint32_t t = RG_SPV_OP(c, SpvOpIAdd, c->t_index, first_to, l.counter);
    uint32_t s = RG_SPV_OP(c, SpvOpIAdd, c->t_index, first_from, l.counter);
    for (uint32_t k = 0; k < to->elem->nleaves; k++) {
        uint64_t m = inner_count(&to->elem->leaves[k]);
        rg_spv_check_type(c, rg_mem_value(to->elem->leaves[k].mem), ins->loc);
        counted in = {0};
        if (m > 1)
            in = count_to(c, rg_spv_const_index(c, m));
        uint32_t number = m > 1 ? in.counter : rg_spv_const_index(c, 0);
        rg_spv_place p = rg_spv_place_at(c, ins->array, k, t);
        rg_spv_place q = rg_spv_place_at(c, ins->array2, k, s);
        split_inner(c, &p, number);
        split_inner(c, &q, number);
        uint32_t v = rg_spv_place_load(c, &q);
        lengthen(c, &p);
        rg_spv_place_store(c, &p, v);
        if (m > 1)
            count_end(c, &in);
    }
    count_end(c, &l);
}

/* ---- slots ---- */

static rg_mem slot_mem(rg_type t) {
    return t == RG_BOOL ? RG_M_U32 : rg_type_mem(t);
}

uint32_t rg_spv_slot_load(rg_spv_fn *c, uint32_t slot, rg_type t) {
    rg_spv *s = c->s;
    uint32_t type = rg_spv_value_type(s, t);
    uint32_t a = rg_spv_read(c, s->t_u32, rg_spv_slot_word(c, 2 * slot, 4, false), 4);
    if (rg_type_size(t) == 8) {
        uint32_t b = rg_spv_read(c, s->t_u32, rg_spv_slot_word(c, 2 * slot + 1, 4, false), 4);
        a = RG_SPV_OP(c, SpvOpCompositeConstruct, s->t_v2u, a, b);
        return RG_SPV_OP(c, SpvOpBitcast, type, a);
    }
    if (t == RG_BOOL)
        return RG_SPV_OP(c, SpvOpINotEqual, type, a, rg_spv_u32(s, 0));
    return t == RG_F32 ? RG_SPV_OP(c, SpvOpBitcast, type, a) : a;
}

void rg_spv_slot_store(rg_spv_fn *c, uint32_t slot, rg_type t, uint32_t v) {
    rg_spv *s = c->s;
    uint32_t low = v, high = rg_spv_u32(s, 0);
    if (rg_type_size(t) == 8) {
        uint32_t pair = RG_SPV_OP(c, SpvOpBitcast, s->t_v2u, v);
        low = RG_SPV_OP(c, SpvOpCompositeExtract, s->t_u32, pair, 0);
        high = RG_SPV_OP(c, SpvOpCompositeExtract, s->t_u32, pair, 1);
    } else if (t == RG_BOOL) {
        low = RG_SPV_OP(c, SpvOpSelect, s->t_u32, v, rg_spv_u32(s, 1), high);
    } else if (t == RG_F32) {
        low = RG_SPV_OP(c, SpvOpBitcast, s->t_u32, v);
    } else if (t == RG_I32) { /* sign-extended */
        high = RG_SPV_OP(c, SpvOpShiftRightArithmetic, s->t_u32, v, rg_spv_u32(s, 31));
    }
    rg_spv_write(c, rg_spv_slot_word(c, 2 * slot, 4, false), low, 4);
    rg_spv_write(c, rg_spv_slot_word(c, 2 * slot + 1, 4, false), high, 4);
}

void rg_spv_slot_combine(rg_spv_fn *c, uint32_t slot, rg_red kind, rg_type t, uint32_t v,
                         rg_loc loc) {
    rg_spv *s = c->s;
    rg_mem mem = slot_mem(t);
    if (t == RG_BOOL) {
        v = RG_SPV_OP(c, SpvOpSelect, s->t_u32, v, rg_spv_u32(s, 1), rg_spv_u32(s, 0));
        kind =
            kind == RG_RED_XOR ? RG_RED_XOR
            : kind == RG_RED_MUL || kind == RG_RED_AND || kind == RG_RED_LAND || kind == RG_RED_MIN
                ? RG_RED_AND
                : RG_RED_OR;
    }
    bool wide = rg_mem_size(mem) == 8;
    bool direct = rg_spv_atomic_direct(c, kind, mem);
    if (!direct && !rg_spv_atomic_can(c, mem, loc))
        return;
    uint32_t at = rg_spv_slot_word(c, wide ? slot : 2 * slot, wide ? 8 : 4, direct);
    rg_spv_atomic(c, kind, mem, at, direct ? at : 0, 0, v, NULL, NULL);
}
