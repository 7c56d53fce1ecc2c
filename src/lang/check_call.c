/* Calls: device functions, and the known functions of <math.h> with C's types for each form. */
#include "lang/check.h"

static bool check_count(rg_parser *p, rg_loc loc, const char *name, uint32_t want, uint32_t got) {
    if (want == got)
        return true;
    rg_error(p->diags, loc, NULL, "'%s' takes %u argument%s, not %u", name, want,
             want == 1 ? "" : "s", got);
    return false;
}

rg_node *rg_check_call(rg_parser *p, rg_loc loc, rg_func *f, rg_node **args, uint32_t n) {
    rg_ctype *result = f->type->base;
    if (!check_count(p, loc, f->name, f->params.n, n))
        return rg_node_error(p, loc);
    bool bad = false;
    for (uint32_t i = 0; i < n; i++) {
        args[i] = rg_check_convert(p, args[i], f->params.at[i]->type, "pass");
        bad |= rg_node_bad(args[i]);
    }
    if (p->func)
        RG_PUSH(p->arena, &p->func->calls, (rg_callee){f, loc});
    if (bad)
        return rg_node_error(p, loc);
    if (f->is_stop && n == 1) {
        rg_node *x = rg_node_new(p, RG_N_MATH, loc, result);
        static const rg_math stop = {"rg_stop", RG_MATH_STOP, RG_FORM_GENERIC, RG_STOP, 1};
        x->math = &stop;
        x->args = args;
        x->nargs = 1;
        return x;
    }
    rg_node *x = rg_node_new(p, RG_N_CALL, loc, result);
    x->func = f;
    x->args = args;
    x->nargs = n;
    return x;
}

/* Type in which a floating function computes: of its form, or by its arguments as <tgmath.h>
 * says: double if any argument is double or an integer, else float. */
static rg_ctype *compute_type(const rg_math *m, rg_node **args, uint32_t n) {
    if (m->form != RG_FORM_GENERIC)
        return rg_ctype_basic(m->form == RG_FORM_FLOAT ? RG_C_FLOAT : RG_C_DOUBLE);
    for (uint32_t i = 0; i < n; i++)
        if (args[i]->type->kind == RG_C_DOUBLE || rg_ctype_is_int(args[i]->type))
            return rg_ctype_basic(RG_C_DOUBLE);
    return rg_ctype_basic(RG_C_FLOAT);
}

rg_node *rg_check_math(rg_parser *p, rg_loc loc, const rg_math *m, rg_node **args, uint32_t n) {
    if (!check_count(p, loc, m->name, m->nargs, n))
        return rg_node_error(p, loc);
    for (uint32_t i = 0; i < n; i++)
        if (rg_node_bad(args[i]))
            return rg_node_error(p, loc);
    rg_ctype *type_int = rg_ctype_basic(RG_C_INT);
    uint32_t values = n; /* arguments that are numbers */
    if (m->kind == RG_MATH_MODF || m->kind == RG_MATH_FREXP || m->kind == RG_MATH_SINCOS)
        values = 1;
    for (uint32_t i = 0; i < values; i++)
        if (!rg_ctype_is_arith(args[i]->type)) {
            rg_error(p->diags, args[i]->loc, NULL, "'%s' takes numbers; this is '%s'", m->name,
                     rg_ctype_name(p->arena, args[i]->type));
            return rg_node_error(p, loc);
        }
    rg_ctype *t = compute_type(m, args, m->kind == RG_MATH_SCALE ? 1 : values), *result = t;
    switch (m->kind) {
    case RG_MATH_INTABS:
        t = result = rg_ctype_basic(m->form == RG_FORM_LONG ? RG_C_LONG : RG_C_INT);
        break;
    case RG_MATH_STOP:
        t = result = rg_ctype_basic(args[0]->type->kind);
        break;
    case RG_MATH_TEST:
    case RG_MATH_CMP:
    case RG_MATH_ISFINITE:
    case RG_MATH_ISNORMAL:
    case RG_MATH_FPCLASS_UNORDERED:
    case RG_MATH_LESSGREATER:
    case RG_MATH_ILOGB:
        result = type_int;
        break;
    case RG_MATH_TOLONG:
        result = rg_ctype_basic(RG_C_LONG);
        break;
    case RG_MATH_SINCOS:
        result = rg_ctype_basic(RG_C_VOID);
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < n; i++) {
        rg_ctype *want = t;
        if (m->kind == RG_MATH_SCALE && i == 1)
            want = type_int;
        if (i >= values)
            want = rg_ctype_ptr(p->arena, m->kind == RG_MATH_FREXP ? type_int : t);
        args[i] = rg_check_convert(p, args[i], want, "pass");
        if (rg_node_bad(args[i]))
            return args[i];
    }
    rg_node *x = rg_node_new(p, RG_N_MATH, loc, result);
    x->math = m;
    x->args = args;
    x->nargs = n;
    x->compute = t;
    return x;
}
