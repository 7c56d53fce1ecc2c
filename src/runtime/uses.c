/* "Covers" is proved for the common form only: a parallel loop of the kernel's body that runs over
 * 0 .. extent of every axis and stores each leaf at exactly its own indices, with no read of the
 * array before it or in it. Everything else counts as reading the old values. */
#include "runtime/uses.h"

static rg_val strip_casts(const rg_fn *f, rg_val v) {
    while (rg_def_op(f, v) == RG_CAST && rg_type_is_int(rg_type_of(f, v)) &&
           rg_type_is_int(rg_type_of(f, rg_operand(f, f->vals.at[v].def, 0))))
        v = rg_operand(f, f->vals.at[v].def, 0);
    return v;
}

static bool same_value(const rg_fn *f, rg_val a, rg_val b) {
    a = strip_casts(f, a);
    b = strip_casts(f, b);
    int64_t x, y;
    if (a == b)
        return true;
    if (rg_val_const_int(f, a, &x) && rg_val_const_int(f, b, &y))
        return x == y;
    return rg_def_op(f, a) == RG_SCALAR && rg_def_op(f, b) == RG_SCALAR &&
           f->ins.at[f->vals.at[a].def].imm.i == f->ins.at[f->vals.at[b].def].imm.i;
}

static bool is_read(const rg_ins *i, rg_aid a) {
    return ((i->op == RG_LOAD || i->op == RG_RMW || i->op == RG_ADDTO) && i->array == a) ||
           (i->op == RG_COPY && i->array2 == a);
}

static bool region_reads(const rg_fn *f, rg_rid r, rg_aid a) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *i = rg_ins_at(f, g->ins.at[k]);
        if (is_read(i, a))
            return true;
        for (int s = 0; s < 2; s++)
            if (i->region[s] && region_reads(f, i->region[s], a))
                return true;
    }
    return false;
}

/* Does parallel p store leaf of array a at every index? */
static bool stores_all(const rg_fn *f, rg_iid p, rg_aid a, uint32_t leaf) {
    const rg_ins *loop = rg_ins_at(f, p);
    const rg_ir_array *x = rg_array_at(f, a);
    const rg_region *g = rg_region_at(f, loop->region[0]);
    if (x->elem->leaves[leaf].ndims || loop->imm.i != (int64_t)x->rank)
        return false;
    for (uint32_t k = 0; k < x->rank; k++) {
        int64_t lo;
        if (!rg_val_const_int(f, strip_casts(f, rg_operand(f, p, 2 * k)), &lo) || lo != 0)
            return false;
    }
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *i = rg_ins_at(f, g->ins.at[k]);
        if (i->op != RG_STORE || i->array != a || i->leaf != leaf)
            continue;
        uint32_t used = 0;
        bool all = true;
        for (uint32_t axis = 0; axis < x->rank && all; axis++) {
            rg_val index = strip_casts(f, rg_operand(f, g->ins.at[k], axis));
            uint32_t iv = 0;
            while (iv < x->rank && g->args.at[iv] != index)
                iv++;
            all = iv < x->rank && !(used & 1u << iv) && x->extents[axis] &&
                  same_value(f, rg_operand(f, p, 2 * iv + 1), x->extents[axis]);
            used |= 1u << iv;
        }
        if (all)
            return true;
    }
    return false;
}

static bool covers(const rg_fn *f, rg_aid a) {
    const rg_region *body = rg_region_at(f, f->body);
    const rg_ir_array *x = rg_array_at(f, a);
    if (!x->extents || x->rank == 0 || x->rank > 3 || x->elem->nleaves > 32)
        return false;
    uint32_t want = 0, got = 0;
    for (uint32_t l = 0; l < x->elem->nleaves; l++)
        want |= 1u << l;
    for (uint32_t k = 0; k < body->ins.n; k++) {
        rg_iid id = body->ins.at[k];
        const rg_ins *i = rg_ins_at(f, id);
        if (is_read(i, a))
            return false;
        for (int s = 0; s < 2; s++)
            if (i->region[s] && region_reads(f, i->region[s], a))
                return false;
        if (i->op == RG_PARALLEL)
            for (uint32_t l = 0; l < x->elem->nleaves; l++)
                if (stores_all(f, id, a, l))
                    got |= 1u << l;
        if (got == want)
            return true;
    }
    return false;
}

rg_uses rg_uses_of(const rg_fn *f, uint32_t param) {
    rg_uses u = {false, false, false};
    const rg_param *p = &f->params.at[param];
    if (!p->is_array)
        return (rg_uses){.reads = true};
    for (uint32_t k = 1; k < f->ins.n; k++) {
        const rg_ins *i = rg_ins_at(f, k);
        bool load = (i->op == RG_LOAD || i->op == RG_RMW) && i->array == p->array;
        u.reads |= load || (i->op == RG_COPY && i->array2 == p->array);
        u.writes |= (rg_writes_element(i) || i->op == RG_COPY) && i->array == p->array;
    }
    /* not RG_ARR_WRITTEN: the front-end sets it for stores that turn out never to run */
    u.covers = u.writes && covers(f, p->array);
    if (u.covers)
        u.reads = false;
    return u;
}
