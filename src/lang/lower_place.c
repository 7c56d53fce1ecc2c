/* Places: where objects lie, and pointers as places.
 *
 * Indexing, member selection, address and dereference only edit the place; nothing is emitted but
 * the arithmetic of indices, until a scalar is loaded or stored. */
#include "lang/lower.h"

rg_ref rg_place_bad(rg_lower *l, rg_ctype *t) {
    (void)l;
    return (rg_ref){.type = t, .bad = true};
}

rg_ref rg_place_field(rg_ref p, const rg_ctype *st, uint32_t field) {
    const rg_cfield *f = &st->st->fields.at[field];
    p.type = f->type;
    p.steps = false;
    if (p.vals)
        p.vals += f->first_leaf;
    else
        p.leaf += f->first_leaf;
    return p;
}

rg_ref rg_place_var(rg_lower *l, rg_var *v, rg_loc loc) {
    const rg_binding *b = v->bind;
    if (!b) {
        rg_error(l->diags, loc, "declare it before the switch or branch",
                 "'%s' is used where its declaration was not reached", v->name);
        return rg_place_bad(l, v->type);
    }
    rg_ref p = {.type = v->type};
    switch (b->kind) {
    case RG_BIND_VALUES:
        p.vals = b->vals;
        break;
    case RG_BIND_LOCAL:
    case RG_BIND_REDUCE:
        p.array = b->array;
        break;
    default:
        rg_error(l->diags, loc, NULL, "the pointer '%s' is not an object here", v->name);
        p.bad = true;
        break;
    }
    return p;
}

rg_ref rg_place_decay(rg_lower *l, rg_ref p, rg_loc loc) {
    if (p.bad || p.type->kind != RG_C_ARRAY)
        return p;
    if (p.n == RG_PLACE_AXES) {
        rg_error(l->diags, loc, "use fewer", "an array with more than %d axes", RG_PLACE_AXES);
        return rg_place_bad(l, p.type->base);
    }
    p.idx[p.n++] = rg_b_int(l->b, RG_I32, 0);
    p.type = p.type->base;
    p.steps = true;
    return p;
}

rg_ref rg_place_shift(rg_lower *l, rg_ref p, rg_val by, bool minus, rg_loc loc) {
    int64_t k, old;
    bool is_const = rg_val_const_int(l->fn, by, &k);
    if (p.bad || (is_const && !k))
        return p;
    if (!p.steps || !p.n) {
        rg_error(l->diags, loc, "make it an element of an array, or take the address of the array",
                 "this pointer points to a single object and cannot move");
        p.bad = true;
        return p;
    }
    rg_val *last = &p.idx[p.n - 1];
    if (rg_val_const_int(l->fn, *last, &old) && !old && !minus) {
        *last = by;
        return p;
    }
    rg_val a = rg_b_cast(l->b, RG_I64, *last), b = rg_b_cast(l->b, RG_I64, by);
    *last = rg_b_op2(l->b, minus ? RG_SUB : RG_ADD, a, b);
    return p;
}

static rg_ref pointer_var(rg_lower *l, rg_var *v, rg_loc loc) {
    rg_binding *b = v->bind;
    if (!b) {
        rg_ref none = rg_place_var(l, v, loc);
        none.type = v->type->base;
        return none;
    }
    if (b->kind == RG_BIND_PTR)
        return b->ptr;
    if (b->kind == RG_BIND_PTRVAR && b->ptr.array) {
        rg_ref p = b->ptr;
        for (uint32_t i = 0; i < p.n; i++)
            if (b->idx[i])
                p.idx[i] = rg_hidden_get(l, b->idx[i]);
        return p;
    }
    rg_error(l->diags, loc, "point it at an array element where it is declared",
             "the pointer '%s' is used before it points anywhere", v->name);
    return rg_place_bad(l, v->type->base);
}

/* Do p and q differ by nothing but their indices? */
static bool same_object(const rg_ref *p, const rg_ref *q) {
    return p->array == q->array && p->leaf == q->leaf && p->n == q->n && p->flat == q->flat &&
           p->flat_at == q->flat_at;
}

void rg_pointer_assign(rg_lower *l, rg_var *v, const rg_ref *to, rg_loc loc) {
    rg_binding *b = v->bind;
    if (to->bad || !b)
        return;
    if (b->kind != RG_BIND_PTRVAR) {
        rg_error(l->diags, loc, "declare a pointer inside the loop",
                 "the pointer '%s' cannot move here", v->name);
        return;
    }
    if (to->vals) {
        rg_error(l->diags, loc, "copy it to a local first", "a value has no address");
        return;
    }
    if (!b->ptr.array) {
        if (to->n && !b->idx[to->n - 1]) {
            rg_error(l->diags, loc, "point it there where it is declared",
                     "the pointer '%s' goes through too many axes", v->name);
            return;
        }
        b->ptr = *to;
        b->set_at = loc;
    } else if (!same_object(&b->ptr, to) || b->ptr.steps != to->steps) {
        rg_error(l->diags, loc, "use an index instead of a pointer, or a pointer for each array",
                 "the pointer '%s' may point into two arrays, '%s' and '%s'", v->name,
                 l->fn->arrays.at[b->ptr.array].name, l->fn->arrays.at[to->array].name);
        if (b->set_at)
            rg_note(l->diags, b->set_at, "it points into '%s' since here",
                    l->fn->arrays.at[b->ptr.array].name);
        return;
    }
    for (uint32_t i = 0; i < to->n; i++)
        if (b->idx[i])
            rg_hidden_set(l, b->idx[i], rg_b_cast(l->b, RG_I64, to->idx[i]));
}

/* ---- &m[0][0]: one pointer for several axes ---- */

/* Indices at the end of the chain that are zero. */
static uint32_t zeros_at_end(const rg_node *n) {
    uint32_t axes = 0;
    for (; n->kind == RG_N_INDEX && n->b->kind == RG_N_INT && n->b->i == 0; n = n->a)
        axes++;
    return axes;
}

static rg_val extent_of(rg_lower *l, const rg_ref *p, uint32_t axis) {
    const rg_array *a = rg_array_at(l->fn, p->array);
    int64_t c;
    if (axis >= a->rank)
        return rg_b_int(l->b, RG_I64, a->elem->leaves[p->leaf].dims[axis - a->rank]);
    if (a->extents && a->extents[axis] && rg_val_const_int(l->fn, a->extents[axis], &c))
        return rg_b_int(l->b, RG_I64, c);
    return rg_b_extent(l->b, p->array, axis);
}

static bool is_zero(const rg_lower *l, rg_val v) {
    int64_t c;
    return rg_val_const_int(l->fn, v, &c) && c == 0;
}

/* One index for the last `axes` axes of p. */
static rg_ref flattened(rg_lower *l, rg_ref p, uint32_t axes) {
    p.flat = axes;
    p.flat_at = p.n - axes;
    rg_val at = p.idx[p.flat_at];
    for (uint32_t k = p.flat_at + 1; k < p.n; k++) {
        if (!is_zero(l, at))
            at = rg_b_op2(l->b, RG_MUL, rg_b_cast(l->b, RG_I64, at), extent_of(l, &p, k));
        at = is_zero(l, at) ? p.idx[k]
                            : rg_b_op2(l->b, RG_ADD, at, rg_b_cast(l->b, RG_I64, p.idx[k]));
        p.idx[k - 1] = rg_b_int(l->b, RG_I32, 0);
    }
    p.idx[p.n - 1] = at;
    return p;
}

rg_ref rg_place_indexed(rg_lower *l, const rg_ref *from) {
    rg_ref p = *from;
    if (p.bad || !p.flat)
        return p;
    uint32_t last = p.flat_at + p.flat - 1;
    p.flat = 0;
    if (is_zero(l, p.idx[last]))
        return p;
    rg_val at = rg_b_cast(l->b, RG_I64, p.idx[last]);
    for (uint32_t k = last; k > p.flat_at; k--) {
        rg_val n = extent_of(l, &p, k);
        p.idx[k] = rg_b_op2(l->b, RG_REM, at, n);
        at = rg_b_op2(l->b, RG_DIV, at, n);
    }
    p.idx[p.flat_at] = at;
    return p;
}

static rg_ref pointer_assigned(rg_lower *l, rg_node *n) {
    rg_node *at = n->a;
    if (at->kind != RG_N_VAR) {
        rg_error(l->diags, n->loc, NULL, "only a pointer variable can be assigned");
        return rg_place_bad(l, n->type->base);
    }
    rg_ref p;
    if (n->kind == RG_N_ASSIGN) {
        p = rg_lower_pointer(l, n->b);
        rg_pointer_assign(l, at->var, &p, n->loc);
        return p;
    }
    rg_ref old = pointer_var(l, at->var, n->loc);
    rg_val by = n->kind == RG_N_INCDEC ? rg_b_int(l->b, RG_I32, 1) : rg_lower_value(l, n->b);
    p = rg_place_shift(l, old, by, n->op == RG_SUB, n->loc);
    rg_pointer_assign(l, at->var, &p, n->loc);
    return n->kind == RG_N_INCDEC && n->post ? old : p;
}

static rg_ref pointer_select(rg_lower *l, rg_node *n) {
    rg_val c = rg_lower_cond(l, n->a);
    rg_ref p = rg_lower_pointer(l, n->b), q = rg_lower_pointer(l, n->c);
    if (p.bad || q.bad)
        return rg_place_bad(l, n->type->base);
    if (!same_object(&p, &q) || p.vals || q.vals) {
        rg_error(l->diags, n->loc, "use if and else around the accesses",
                 "the pointer may point into two arrays");
        return rg_place_bad(l, n->type->base);
    }
    for (uint32_t i = 0; i < p.n; i++)
        if (p.idx[i] != q.idx[i])
            p.idx[i] = rg_b_op3(l->b, RG_SELECT, c, rg_b_cast(l->b, RG_I64, p.idx[i]),
                                rg_b_cast(l->b, RG_I64, q.idx[i]));
    return p;
}

rg_ref rg_lower_pointer(rg_lower *l, rg_node *n) {
    l->b->loc = n->loc;
    if (n->type->kind == RG_C_ARRAY)
        return rg_place_decay(l, rg_lower_place(l, n), n->loc);
    switch (n->kind) {
    case RG_N_VAR:
        return pointer_var(l, n->var, n->loc);
    case RG_N_ADDR: {
        rg_ref p = rg_lower_place(l, n->a);
        uint32_t axes = zeros_at_end(n->a);
        if (axes < 2 || p.bad || p.vals || p.n < axes)
            return p;
        return flattened(l, p, p.flat ? p.n - p.flat_at : axes);
    }
    case RG_N_PTRADD: {
        rg_ref p = rg_lower_pointer(l, n->a);
        rg_val by = rg_lower_value(l, n->b);
        return rg_place_shift(l, p, by, n->post, n->loc);
    }
    case RG_N_CAST:
        return rg_lower_pointer(l, n->a);
    case RG_N_COMMA:
        rg_lower_effect(l, n->a);
        return rg_lower_pointer(l, n->b);
    case RG_N_COND:
        return pointer_select(l, n);
    case RG_N_ASSIGN:
    case RG_N_OPASSIGN:
    case RG_N_INCDEC:
        return pointer_assigned(l, n);
    default:
        rg_error(l->diags, n->loc, "use an array and an index", "this pointer cannot be followed");
        return rg_place_bad(l, n->type->base ? n->type->base : n->type);
    }
}

static rg_ref struct_cond(rg_lower *l, rg_node *n) {
    rg_elem *e = rg_ctype_elem(l->unit->module, n->type);
    rg_aid tmp = rg_b_alloc(l->b, "tmp", e, 0, NULL, 0);
    rg_ref to = {.type = n->type, .array = tmp};
    rg_iid i = rg_b_if(l->b, rg_lower_cond(l, n->a));
    for (uint32_t k = 0; k < 2; k++) {
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[k]);
        rg_ref from = rg_lower_place(l, k ? n->c : n->b);
        rg_place_copy(l, &to, &from);
        rg_b_yield(l->b, NULL, 0);
        rg_b_pop(l->b);
    }
    rg_b_if_done(l->b, i);
    return to;
}

static rg_ref place_of(rg_lower *l, rg_node *n) {
    l->b->loc = n->loc;
    switch (n->kind) {
    case RG_N_VAR:
        return rg_place_var(l, n->var, n->loc);
    case RG_N_MEMBER: {
        rg_ref p = rg_lower_place(l, n->a);
        return p.bad ? rg_place_bad(l, n->type) : rg_place_field(p, n->a->type, n->field);
    }
    case RG_N_INDEX: {
        rg_ref p = rg_lower_pointer(l, n->a);
        rg_val by = rg_lower_value(l, n->b);
        l->b->loc = n->loc;
        return rg_place_shift(l, p, by, false, n->loc);
    }
    case RG_N_DEREF:
        return rg_lower_pointer(l, n->a);
    case RG_N_LITERAL:
        n->var->bind = NULL;
        rg_lower_decl(l, n->var);
        return rg_place_var(l, n->var, n->loc);
    case RG_N_CALL: {
        rg_ref p;
        rg_lower_call(l, n, &p);
        return p;
    }
    case RG_N_COND:
        return struct_cond(l, n);
    case RG_N_COMMA:
        rg_lower_effect(l, n->a);
        return rg_lower_place(l, n->b);
    case RG_N_ASSIGN: {
        rg_ref from = rg_lower_place(l, n->b), to = rg_lower_place(l, n->a);
        rg_place_copy(l, &to, &from);
        return to;
    }
    case RG_N_MATH: /* rg_stop of a struct */
    default:
        rg_error(l->diags, n->loc, "store it in a local first", "this is not an object");
        return rg_place_bad(l, n->type);
    }
}

rg_ref rg_lower_place(rg_lower *l, rg_node *n) {
    rg_ref p = place_of(l, n);
    return p.bad ? rg_place_bad(l, n->type) : p;
}

/* In an adjoint by the user: p belongs to the gradient of a const array, to which all iterations
 * add.
 */
static bool only_sums(rg_lower *l, const rg_ref *p) {
    if (!p->bad && p->sums)
        rg_error(l->diags, l->b->loc, "add to it as a statement, with += or -=",
                 "'%s' is the gradient of a const array: other iterations may add to it as well",
                 rg_array_at(l->fn, p->array)->name);
    return !p->bad && p->sums;
}

rg_val rg_place_load(rg_lower *l, const rg_ref *p) {
    rg_type t = rg_ctype_value(p->type);
    if (p->bad || only_sums(l, p))
        return rg_b_zero(l->b, t);
    if (p->vals)
        return p->vals[0];
    rg_ref x = rg_place_indexed(l, p);
    return rg_b_load(l->b, x.array, x.leaf, x.idx, x.atomic ? RG_INS_ATOMIC : 0);
}

void rg_place_store(rg_lower *l, const rg_ref *p, rg_val v) {
    if (p->bad || only_sums(l, p))
        return;
    if (p->vals) {
        rg_error(l->diags, l->b->loc, "copy it to a local first", "a value cannot be assigned");
        return;
    }
    rg_ref x = rg_place_indexed(l, p);
    rg_b_store(l->b, x.array, x.leaf, x.idx, v, x.atomic ? RG_INS_ATOMIC : 0);
}

bool rg_is_flat(const rg_ctype *t) {
    if (t->kind != RG_C_STRUCT)
        return rg_ctype_is_arith(t);
    for (uint32_t i = 0; i < t->st->fields.n; i++)
        if (!rg_is_flat(t->st->fields.at[i].type))
            return false;
    return true;
}

rg_val *rg_place_values(rg_lower *l, const rg_ref *p) {
    uint32_t n = rg_ctype_leaves(p->type);
    rg_val *v = RG_NEW_N(l->arena, rg_val, n);
    bool bad = p->bad || only_sums(l, p);
    rg_ref x = rg_place_indexed(l, p);
    for (uint32_t i = 0; i < n; i++) {
        if (bad) /* of the right type: lowering goes on to find more errors */
            v[i] = rg_b_zero(l->b,
                             rg_mem_value(rg_ctype_elem(l->unit->module, p->type)->leaves[i].mem));
        else if (p->vals)
            v[i] = p->vals[i];
        else
            v[i] = rg_b_load(l->b, x.array, x.leaf + i, x.idx, 0);
    }
    return v;
}

/* Copies leaf k of the object, over the axes of it that the places have not fixed. */
static void copy_leaf(rg_lower *l, rg_ref to, rg_ref from, uint32_t k) {
    if (from.vals) {
        rg_b_store(l->b, to.array, to.leaf + k, to.idx, from.vals[k], 0);
        return;
    }
    const rg_array *a = rg_array_at(l->fn, from.array);
    const rg_leaf *leaf = &a->elem->leaves[from.leaf + k];
    uint32_t fixed = from.n - a->rank;
    if (fixed == leaf->ndims) {
        rg_val v = rg_b_load(l->b, from.array, from.leaf + k, from.idx, 0);
        rg_b_store(l->b, to.array, to.leaf + k, to.idx, v, 0);
        return;
    }
    int64_t dim = leaf->dims[fixed], rest = 1;
    for (uint32_t i = fixed; i < leaf->ndims; i++)
        rest *= leaf->dims[i];
    if (from.n >= RG_PLACE_AXES || to.n >= RG_PLACE_AXES) {
        rg_error(l->diags, l->b->loc, "use fewer", "an array with more than %d axes",
                 RG_PLACE_AXES);
        return;
    }
    from.n++;
    to.n++;
    if (rest <= 16) {
        for (int64_t i = 0; i < dim; i++) {
            from.idx[from.n - 1] = to.idx[to.n - 1] = rg_b_int(l->b, RG_I32, i);
            copy_leaf(l, to, from, k);
        }
        return;
    }
    rg_iid loop =
        rg_b_for(l->b, rg_b_int(l->b, RG_I32, 0), rg_b_int(l->b, RG_I32, dim), NULL, 0, 0);
    rg_b_push(l->b, rg_ins_at(l->fn, loop)->region[0]);
    from.idx[from.n - 1] = to.idx[to.n - 1] = rg_b_arg(l->b, 0);
    copy_leaf(l, to, from, k);
    rg_b_yield(l->b, NULL, 0);
    rg_b_pop(l->b);
}

void rg_place_copy(rg_lower *l, const rg_ref *to, const rg_ref *from) {
    if (to->bad || from->bad || only_sums(l, to) || only_sums(l, from))
        return;
    if (to->vals) {
        rg_error(l->diags, l->b->loc, "copy it to a local first", "a value cannot be assigned");
        return;
    }
    uint32_t n = rg_ctype_leaves(from->type);
    rg_ref y = rg_place_indexed(l, to), x = rg_place_indexed(l, from);
    if (rg_is_flat(from->type)) {
        /* all loads first: the objects may be one */
        const rg_val *v = rg_place_values(l, &x);
        for (uint32_t i = 0; i < n; i++)
            rg_b_store(l->b, y.array, y.leaf + i, y.idx, v[i], 0);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        copy_leaf(l, y, x, i);
}
