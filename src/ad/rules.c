/* The rules are short texts in reverse Polish notation (ops.def); a stack of SSA values runs them
 * through the builder, which folds as it goes. */
#include "ad/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 16 };

typedef struct machine {
    rg_build *b;
    rg_type type; /* of numbers */
    const rg_val *x;
    rg_val r;
    rg_val stack[STACK];
    uint32_t n;
    rg_val temp[26];
} machine;

static void push(machine *m, rg_val v) {
    if (m->n == STACK)
        rg_bug(m->b->fn->arena, "derivative rule too deep");
    m->stack[m->n++] = v;
}

static rg_val pop(machine *m) {
    if (m->n == 0)
        rg_bug(m->b->fn->arena, "derivative rule pops an empty stack");
    return m->stack[--m->n];
}

static bool is_number(const char *s) {
    return (*s >= '0' && *s <= '9') || (*s == '-' && s[1] >= '0' && s[1] <= '9');
}

static void step(machine *m, const char *s, size_t n) {
    if (is_number(s)) {
        push(m, rg_b_real(m->b, m->type, strtod(s, NULL)));
    } else if (n == 1) {
        switch (*s) {
        case 'x':
        case 'y':
        case 'z':
            push(m, m->x[*s - 'x']);
            break;
        case 'r':
            push(m, m->r);
            break;
        default:
            push(m, m->temp[(*s - 'a') % 26]);
        }
    } else if (n == 2 && *s == '=') {
        m->temp[(s[1] - 'a') % 26] = pop(m);
    } else {
        rg_op op = rg_op_find(s, n);
        if (op == RG_OP_NONE)
            rg_bug(m->b->fn->arena, "derivative rule names an unknown op: %.*s", (int)n, s);
        if (rg_ops[op].operands == 1) {
            push(m, rg_b_op1(m->b, op, pop(m)));
        } else if (rg_ops[op].operands == 2) {
            rg_val y = pop(m), x = pop(m);
            push(m, rg_b_op2(m->b, op, x, y));
        } else {
            rg_val z = pop(m), y = pop(m), x = pop(m);
            push(m, rg_b_op3(m->b, op, x, y, z));
        }
    }
}

/* Where ops.def gives zero by convention: the limit from above along the operand's own axis, when
 * the caller asks for strict edges. Ties of fmin and fmax stay halves: they are no zeros. */
static const char *strict_partial(rg_op op, uint32_t k) {
    switch (op) {
    case RG_FABS:
        return "x 0 ge 1 x 0 lt -1 x select select";
    case RG_SQRT:
        return "0.5 r div";
    case RG_CBRT:
        return "1 3 r r mul mul div";
    case RG_HYPOT:
        return k == 0 ? "r 0 eq 1 x r div select" : "r 0 eq 1 y r div select";
    case RG_ATAN2:
        return k == 0 ? "x x mul y y mul add =d d 0 eq 1 0 div y d div select"
                      : "x x mul y y mul add =d d 0 eq -1 0 div x d div neg select";
    case RG_FDIM:
        return k == 0 ? "x y ge 1 0 select" : "x y ge -1 0 select";
    case RG_COPYSIGN:
        return k == 0 ? "x signbit y signbit eq 1 -1 select" : NULL;
    default:
        return NULL;
    }
}

rg_val rg_rule_partial(rg_build *b, rg_op op, uint32_t k, const rg_val x[3], rg_val r,
                       bool strict) {
    const char *s = strict ? strict_partial(op, k) : NULL;
    if (!s)
        s = k < 3 ? rg_ops[op].partial[k] : "";
    if (!*s)
        return 0;
    double one;
    if (op == RG_DIV && k == 1 && rg_val_const_real(b->fn, x[0], &one) && one == 1)
        s = "r r mul neg"; /* r is 1/y: no second division */
    machine m = {.b = b, .type = rg_type_of(b->fn, r), .x = x, .r = r};
    while (*s) {
        size_t n = strcspn(s, " ");
        if (n)
            step(&m, s, n);
        s += n;
        s += strspn(s, " ");
    }
    rg_val v = pop(&m);
    double c;
    return rg_val_const_real(b->fn, v, &c) && c == 0 && !signbit(c) ? 0 : v;
}

rg_val rg_rule_apply(rg_build *b, rg_op op, uint32_t k, rg_val c, rg_val partial) {
    double d;
    if (rg_val_const_real(b->fn, partial, &d)) {
        if (d == 1)
            return c;
        if (d == -1)
            return rg_b_op1(b, RG_NEG, c);
    }
    uint32_t flags = rg_ops[op].flags;
    bool nf = (k == 0 && (flags & RG_F_NFX)) || (k == 1 && (flags & RG_F_NFY));
    /* A negation commutes exactly with the product: keep it outside, where it may fold. */
    return rg_b_op2(b, nf ? RG_ZMUL : RG_MUL, c, partial);
}

rg_val rg_rule_add(rg_build *b, rg_val sum, rg_val g) {
    if (!sum)
        return g;
    if (!g)
        return sum;
    return rg_b_op2(b, RG_ADD, sum, g);
}

const char *rg_rule_name(const rg_fn *f, rg_val v, const char *suffix, rg_arena *a) {
    const char *name = rg_value_at(f, v)->name;
    return name ? rg_format(a, "%s%s", name, suffix) : NULL;
}

uint32_t rg_scalar_leaf(const rg_fn *f, uint32_t s, int64_t idx[8], uint32_t *n) {
    const rg_scalar *sc = &f->scalars.at[s];
    const rg_elem *e = f->params.at[sc->param].elem;
    for (uint32_t l = 0; l < e->nleaves; l++) {
        const rg_leaf *leaf = &e->leaves[l];
        if (sc->offset < leaf->offset || leaf->mem != sc->mem || leaf->ndims > 8)
            continue;
        int64_t rest = (int64_t)sc->offset - leaf->offset;
        uint32_t d = 0;
        for (; d < leaf->ndims; d++) {
            idx[d] = rest / leaf->strides[d];
            if (idx[d] >= leaf->dims[d])
                break;
            rest -= idx[d] * leaf->strides[d];
        }
        if (d == leaf->ndims && rest == 0) {
            *n = leaf->ndims;
            return l;
        }
    }
    rg_bug(f->arena, "scalar %u has no leaf", s);
}
