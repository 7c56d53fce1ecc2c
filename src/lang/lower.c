/* Functions: kernels with their parameters, device functions inlined at each call, declarations.
 *
 * Bindings hang on the variables themselves. A device function's are overwritten by its next
 * call, which is right because a call is over before the next one begins: recursion is refused
 * before any lowering. */
#include "lang/lower.h"

rg_binding *rg_bind(rg_lower *l, rg_var *v, rg_binding_kind k) {
    rg_binding *b = RG_NEW(l->arena, rg_binding);
    b->kind = k;
    v->bind = b;
    return b;
}

void rg_bind_value(rg_lower *l, rg_var *v, rg_val x) {
    rg_binding *b = rg_bind(l, v, RG_BIND_VALUES);
    b->vals = RG_NEW(l->arena, rg_val);
    b->vals[0] = x;
}

void rg_bind_local(rg_lower *l, rg_var *v, bool zero) {
    rg_ctype *t = v->type;
    rg_val extents[RG_PLACE_AXES];
    uint32_t rank = 0;
    for (; t->kind == RG_C_ARRAY; t = t->base) {
        if (rank == RG_PLACE_AXES) {
            rg_error(l->diags, v->loc, "use fewer", "an array with more than %d axes",
                     RG_PLACE_AXES);
            break;
        }
        if (t->len >= 0 || !t->len_expr)
            extents[rank] = rg_b_int(l->b, RG_I64, t->len);
        else
            extents[rank] = rg_b_cast(l->b, RG_I64, rg_lower_value(l, t->len_expr));
        rank++;
    }
    while (t->kind == RG_C_ARRAY)
        t = t->base;
    l->b->loc = v->loc;
    rg_aid a = rg_b_alloc(l->b, v->name, rg_ctype_elem(l->unit->module, t), rank, extents,
                          zero ? RG_ARR_ZERO : 0);
    rg_bind(l, v, RG_BIND_LOCAL)->array = a;
}

static bool is_fixed(const rg_var *v) {
    return !v->writes.n && !v->address_taken;
}

void rg_bind_place(rg_lower *l, rg_var *v, const rg_ref *from) {
    if (is_fixed(v) && rg_is_flat(v->type)) {
        rg_val *vals = rg_place_values(l, from);
        rg_bind(l, v, RG_BIND_VALUES)->vals = vals;
        return;
    }
    rg_bind_local(l, v, false);
    rg_ref to = {.type = v->type, .array = v->bind->array};
    rg_place_copy(l, &to, from);
}

void rg_bind_pointer(rg_lower *l, rg_var *v, const rg_ref *to) {
    if (to && !v->writes.n) {
        rg_bind(l, v, RG_BIND_PTR)->ptr = *to;
        return;
    }
    rg_binding *b = rg_bind(l, v, RG_BIND_PTRVAR);
    uint32_t n = to ? to->n : RG_PLACE_AXES / 2;
    for (uint32_t i = to && !v->reseated && n ? n - 1 : 0; i < n; i++)
        b->idx[i] = rg_hidden_local(l, v->name, RG_I64);
    if (to)
        rg_pointer_assign(l, v, to, v->loc);
}

/* The values of a flat object from its initialiser, which gives each leaf at most once. */
static void bind_flat_init(rg_lower *l, rg_var *v) {
    uint32_t n = rg_ctype_leaves(v->type);
    rg_val *vals = RG_NEW_N(l->arena, rg_val, n);
    for (uint32_t i = 0; i < v->init.n; i++) {
        rg_node *value = v->init.at[i].value;
        uint32_t leaf = 0;
        for (const rg_node *t = v->init.at[i].target; t->kind == RG_N_MEMBER; t = t->a)
            leaf += t->a->type->st->fields.at[t->field].first_leaf;
        if (rg_ctype_is_arith(value->type)) {
            vals[leaf] = rg_lower_value(l, value);
            continue;
        }
        rg_ref p = rg_lower_place(l, value);
        const rg_val *from = rg_place_values(l, &p);
        for (uint32_t k = 0; k < rg_ctype_leaves(value->type); k++)
            vals[leaf + k] = from[k];
    }
    const rg_elem *e = rg_ctype_elem(l->unit->module, v->type);
    for (uint32_t i = 0; i < n; i++)
        if (!vals[i])
            vals[i] = rg_b_zero(l->b, rg_mem_value(e->leaves[i].mem));
    if (n == 1 && v->name[0] != '(')
        rg_b_name(l->b, vals[0], v->name);
    rg_bind(l, v, RG_BIND_VALUES)->vals = vals;
}

void rg_lower_init(rg_lower *l, rg_var *v) {
    for (uint32_t i = 0; i < v->init.n; i++) {
        rg_node *value = v->init.at[i].value;
        if (rg_ctype_is_arith(value->type)) {
            rg_val x = rg_lower_value(l, value);
            rg_ref to = rg_lower_place(l, v->init.at[i].target);
            l->b->loc = value->loc;
            rg_place_store(l, &to, x);
        } else {
            rg_ref from = rg_lower_place(l, value), to = rg_lower_place(l, v->init.at[i].target);
            l->b->loc = value->loc;
            rg_place_copy(l, &to, &from);
        }
    }
}

void rg_lower_decl(rg_lower *l, rg_var *v) {
    l->b->loc = v->loc;
    if (v->bind && v->bind->hoisted) {
        rg_lower_init(l, v);
        return;
    }
    if (v->type->kind == RG_C_PTR) {
        if (!v->init.n) {
            rg_bind_pointer(l, v, NULL);
            return;
        }
        rg_ref to = rg_lower_pointer(l, v->init.at[0].value);
        if (!to.bad && to.vals) {
            rg_error(l->diags, v->loc, "copy it to a local first", "a value has no address");
            to.bad = true;
        }
        rg_bind_pointer(l, v, &to);
        return;
    }
    if (v->has_init && is_fixed(v) && rg_is_flat(v->type)) {
        bind_flat_init(l, v);
        return;
    }
    /* the initialiser may read a hidden variable of the same name, never v itself */
    rg_bind_local(l, v, v->zero_rest);
    rg_lower_init(l, v);
}

void rg_bind_number(rg_lower *l, rg_var *v, rg_val x) {
    if (is_fixed(v)) {
        rg_bind_value(l, v, x);
        return;
    }
    rg_bind_local(l, v, false);
    rg_hidden_set(l, v->bind->array, x);
}

/* given: what the argument is, if somebody asks for it. */
static void bind_parameter(rg_lower *l, rg_var *v, rg_node *arg, rg_given *given) {
    if (rg_ctype_is_arith(v->type)) {
        rg_val x = rg_lower_value(l, arg);
        if (given) {
            given->vals = RG_NEW(l->arena, rg_val);
            given->vals[0] = x;
        }
        rg_bind_number(l, v, x);
    } else if (v->type->kind == RG_C_PTR) {
        rg_ref p = rg_lower_pointer(l, arg);
        if (p.vals && !p.bad) {
            rg_error(l->diags, arg->loc, "copy it to a local first", "a value has no address");
            p.bad = true;
        }
        if (given)
            given->at = p;
        rg_bind_pointer(l, v, &p);
    } else {
        rg_ref p = rg_lower_place(l, arg);
        if (given && rg_is_flat(v->type)) {
            given->vals = rg_place_values(l, &p);
            p = (rg_ref){.type = v->type, .bad = p.bad, .vals = given->vals};
        }
        rg_bind_place(l, v, &p);
    }
}

rg_val rg_lower_function(rg_lower *l, rg_func *f, rg_loc call, rg_ref *result) {
    rg_ctype *rt = f->type->base;
    bool arith = rg_ctype_is_arith(rt);
    l->b->loc = call;
    rg_frame frame = {.up = l->frame, .func = f, .call = call};
    *result = rg_place_bad(l, rt);
    if (!f->tail_only) {
        frame.returned = rg_hidden_local(l, "returned", RG_BOOL);
        rg_hidden_set(l, frame.returned, rg_b_bool(l->b, false));
        if (rt->kind != RG_C_VOID)
            frame.result =
                rg_b_alloc(l->b, f->name, rg_ctype_elem(l->unit->module, rt), 0, NULL, 0);
    }
    l->frame = &frame;
    rg_lower_stmt(l, f->body);
    l->frame = frame.up;
    l->b->loc = call;
    if (rt->kind == RG_C_VOID)
        return 0;
    if (frame.result) {
        rg_ref p = {.type = rt, .array = frame.result};
        if (arith)
            return rg_place_load(l, &p);
        *result = p;
    } else if (arith) {
        return frame.value ? frame.value : rg_b_zero(l->b, rg_ctype_value(rt));
    } else if (frame.place.type) {
        *result = frame.place;
    }
    if (!result->bad && rg_is_flat(rt)) { /* what it lies in may change before it is used */
        rg_val *vals = rg_place_values(l, result);
        *result = (rg_ref){.type = rt, .vals = vals};
    }
    return 0;
}

enum { MOST_INSTRUCTIONS = 1000000 };

/* call = function "(" arguments ")": the function's body, here. */
rg_val rg_lower_call(rg_lower *l, rg_node *n, rg_ref *result) {
    rg_func *f = n->func;
    rg_ctype *rt = f->type->base;
    if (l->fn->ins.n > MOST_INSTRUCTIONS) {
        if (!l->too_large)
            rg_error(l->diags, n->loc, "use loops instead of repeated calls",
                     "the kernel is too large after inlining its functions");
        l->too_large = true;
        *result = rg_place_bad(l, rt);
        return rg_ctype_is_arith(rt) ? rg_b_zero(l->b, rg_ctype_value(rt)) : 0;
    }
    /* every argument before any binding: an argument may call the same function */
    rg_binding **bind = RG_NEW_N(l->arena, rg_binding *, n->nargs + 1);
    bool own = f->adjoint && !f->is_kernel && !l->in_own;
    rg_given *given = own ? RG_NEW_N(l->arena, rg_given, n->nargs + 1) : NULL;
    for (uint32_t i = 0; i < n->nargs; i++) {
        l->b->loc = n->args[i]->loc;
        bind_parameter(l, f->params.at[i], n->args[i], own ? &given[i] : NULL);
        bind[i] = f->params.at[i]->bind;
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        f->params.at[i]->bind = bind[i];
    if (!own)
        return rg_lower_function(l, f, n->loc, result);
    *result = rg_place_bad(l, rt);
    return rg_lower_own_call(l, n, given);
}

static const char *leaf_path(rg_lower *l, const rg_leaf *leaf, uint32_t *at) {
    rg_text x = {.arena = l->arena};
    uint32_t k = 0;
    for (const char *c = leaf->path; *c; c++) {
        if (*c == '%')
            rg_text_format(&x, "%u", at[k++]);
        else
            rg_text_char(&x, *c);
    }
    return rg_text_str(&x);
}

/* Entries of fn.scalars for one leaf of a by-value parameter, over its own axes. */
static void add_scalars(rg_lower *l, uint32_t param, const rg_leaf *leaf) {
    uint32_t at[16] = {0};
    for (;;) {
        uint32_t offset = leaf->offset;
        for (uint32_t k = 0; k < leaf->ndims; k++)
            offset += at[k] * (uint32_t)leaf->strides[k];
        RG_PUSH(l->fn->arena, &l->fn->scalars,
                (rg_scalar){param, leaf->mem, offset, leaf_path(l, leaf, at)});
        uint32_t k = leaf->ndims;
        while (k > 0 && at[k - 1] + 1 == leaf->dims[k - 1])
            at[--k] = 0;
        if (!k)
            return;
        at[k - 1]++;
    }
}

static void add_value_param(rg_lower *l, rg_var *v, uint32_t index) {
    rg_elem *e = rg_ctype_elem(l->unit->module, v->type);
    rg_param p = {.name = v->name,
                  .elem = e,
                  .first_scalar = l->fn->scalars.n,
                  .is_const = v->type->is_const,
                  .loc = v->loc};
    for (uint32_t i = 0; i < e->nleaves; i++)
        add_scalars(l, index, &e->leaves[i]);
    p.nscalars = l->fn->scalars.n - p.first_scalar;
    RG_PUSH(l->fn->arena, &l->fn->params, p);
    rg_val *vals = RG_NEW_N(l->arena, rg_val, p.nscalars);
    for (uint32_t i = 0; i < p.nscalars; i++)
        vals[i] = rg_b_scalar(l->b, p.first_scalar + i);
    if (!e->is_struct)
        rg_b_name(l->b, vals[0], v->name);
    rg_bind(l, v, RG_BIND_VALUES)->vals = vals;
}

void rg_store_scalars(rg_lower *l, rg_var *v, const rg_val *vals) {
    const rg_elem *e = rg_ctype_elem(l->unit->module, v->type);
    for (uint32_t i = 0; i < e->nleaves; i++) {
        const rg_leaf *leaf = &e->leaves[i];
        rg_val idx[RG_PLACE_AXES];
        int64_t count = 1;
        for (uint32_t k = 0; k < leaf->ndims; k++)
            count *= leaf->dims[k];
        for (int64_t c = 0; c < count; c++) {
            int64_t rest = c;
            for (uint32_t k = leaf->ndims; k-- > 0; rest /= leaf->dims[k])
                idx[k] = rg_b_int(l->b, RG_I32, rest % leaf->dims[k]);
            rg_b_store(l->b, v->bind->array, i, idx, *vals++, 0);
        }
    }
}

static void add_array_param(rg_lower *l, rg_var *v, uint32_t index) {
    uint32_t rank = 1;
    rg_ctype *elem = rg_ctype_innermost(v->type->base, &rank);
    rank++;
    rg_elem *e = rg_ctype_elem(l->unit->module, elem);
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < e->nleaves; i++)
        deepest = e->leaves[i].ndims > deepest ? e->leaves[i].ndims : deepest;
    if (rank + deepest > RG_PLACE_AXES) {
        rg_error(l->diags, v->loc, "use fewer", "an array with more than %d axes", RG_PLACE_AXES);
        return;
    }
    rg_val *extents = RG_NEW_N(l->fn->arena, rg_val, rank);
    const char **text = RG_NEW_N(l->fn->arena, const char *, rank);
    const rg_ctype *t = v->array_type;
    for (uint32_t k = 0; k < rank; k++) {
        if (t) {
            text[k] = t->len_text;
            if (t->len >= 0)
                extents[k] = rg_b_int(l->b, RG_I64, t->len);
            else if (t->len_expr)
                extents[k] = rg_b_cast(l->b, RG_I64, rg_lower_value(l, t->len_expr));
        }
        t = t ? t->base : v->type->base; /* T (*x)[3]: the first axis has no length */
    }
    rg_array init = {.name = v->name,
                     .kind = RG_ARR_PARAM,
                     .flags = elem->is_const ? RG_ARR_CONST : 0,
                     .elem = e,
                     .rank = rank,
                     .extents = extents,
                     .param = index,
                     .loc = v->loc};
    rg_aid a = rg_array_new(l->fn, &init);
    rg_param p = {.name = v->name,
                  .is_array = true,
                  .array = a,
                  .elem = e,
                  .rank = rank,
                  .extent_text = text,
                  .is_const = elem->is_const,
                  .loc = v->loc};
    RG_PUSH(l->fn->arena, &l->fn->params, p);
    rg_ref to = {.type = v->type->base, .steps = true, .array = a, .n = 1};
    to.idx[0] = rg_b_int(l->b, RG_I32, 0);
    rg_bind_pointer(l, v, &to);
}

static void add_params(rg_lower *l, rg_func *f) {
    for (uint32_t i = 0; i < f->params.n; i++) {
        rg_var *v = f->params.at[i];
        l->b->loc = v->loc;
        if (v->type->kind == RG_C_PTR)
            add_array_param(l, v, i);
        else
            add_value_param(l, v, i);
    }
    /* extents are computed: from here on an assigned parameter is a local */
    for (uint32_t i = 0; i < f->params.n; i++) {
        rg_var *v = f->params.at[i];
        bool flat = rg_is_flat(v->type);
        if (v->type->kind == RG_C_PTR || (flat && is_fixed(v)))
            continue;
        l->b->loc = v->loc;
        const rg_binding *from = v->bind;
        rg_bind_local(l, v, false);
        if (flat) {
            rg_ref to = rg_place_var(l, v, v->loc), x = {.type = v->type, .vals = from->vals};
            rg_place_copy(l, &to, &x);
        } else {
            rg_store_scalars(l, v, from->vals);
            v->bind->vals = is_fixed(v) ? from->vals : NULL;
        }
    }
}

/* The constant data that f and what it calls use, each once. */
static void add_statics(rg_lower *l, rg_func *f, uint32_t number) {
    if (f->visit == number)
        return;
    f->visit = number;
    for (uint32_t i = 0; i < f->statics.n; i++) {
        rg_var *v = f->statics.at[i];
        if (v->seen == number)
            continue;
        v->seen = number;
        l->b->loc = v->loc;
        if (rg_is_flat(v->type)) {
            bind_flat_init(l, v);
        } else {
            rg_bind_local(l, v, v->zero_rest);
            rg_lower_init(l, v);
        }
    }
    for (uint32_t i = 0; i < f->calls.n; i++)
        add_statics(l, f->calls.at[i].func, number);
    if (f->adjoint && !f->is_kernel)
        add_statics(l, f->adjoint, number);
}

static void mark_written(rg_fn *f) {
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *x = &f->ins.at[i];
        if ((rg_writes_element(x) || x->op == RG_COPY) && x->array &&
            f->arrays.at[x->array].kind == RG_ARR_PARAM)
            f->arrays.at[x->array].flags |= RG_ARR_WRITTEN;
    }
}

static rg_fn *lower_kernel(rg_unit *u, rg_func *f, uint32_t number) {
    rg_lower l = {.arena = u->arena, .diags = u->diags, .unit = u};
    l.fn = rg_fn_new(u->arena, u->module, f->name);
    l.fn->loc = f->loc;
    l.fn->mode = RG_PRIMAL;
    l.b = rg_b_new(l.fn);
    rg_frame frame = {.func = f};
    l.frame = &frame;
    add_params(&l, f);
    if (l.fn->params.n != f->params.n)
        return NULL; /* an error was reported */
    add_statics(&l, f, number);
    l.b->loc = f->loc;
    if (!f->tail_only) {
        frame.returned = rg_hidden_local(&l, "returned", RG_BOOL);
        rg_hidden_set(&l, frame.returned, rg_b_bool(l.b, false));
    }
    rg_lower_stmt(&l, f->body);
    l.b->loc = f->loc;
    rg_b_yield(l.b, NULL, 0);
    mark_written(l.fn);
    return l.fn;
}

bool rg_lower_unit(rg_unit *u) {
    uint32_t number = 1u << 30; /* apart from the marks of earlier walks */
    for (uint32_t i = 0; i < u->funcs.n; i++) {
        rg_func *f = u->funcs.at[i];
        if (!f->is_kernel || !f->body)
            continue;
        rg_fn *fn = lower_kernel(u, f, ++number);
        if (!fn)
            continue;
        /* Written above f or below it, and maybe changed by passes: a lowering of its own. */
        if (f->adjoint)
            fn->adjoint = lower_kernel(u, f->adjoint, ++number);
        RG_PUSH(u->arena, &u->module->kernels, fn);
    }
    return u->diags->errors == 0;
}
