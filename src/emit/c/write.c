/* Writes to memory that both C forms print alike. */
#include "emit/c/printer.h"

rg_val rg_c_stored(const rg_fn *f, const rg_ins *s) {
    return f->pool.at[s->opnd + s->nopnd - 1];
}

const char *rg_c_stored_text(rg_cprint *p, rg_iid i) {
    const rg_ins *s = &p->f->ins.at[i];
    const char *v = rg_c_expr_text(p, rg_c_stored(p->f, s), RG_P_ASSIGN);
    if (rg_ins_leaf(p->f, s)->mem != RG_M_F16)
        return v;
    rg_c_use(p->helpers, RG_H_HALF_STORE);
    return rg_format(p->arena, "rg_half_from_float(%s)", v);
}

void rg_c_plain_add(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_val v = rg_c_stored(f, s);
    if (rg_ins_leaf(f, s)->mem == RG_M_F16) {
        const char *place = rg_c_place_text(p, i);
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
        rg_c_use(p->helpers, RG_H_HALF_STORE);
        rg_text_format(p->out, "%s = rg_half_from_float(rg_half_to_float(%s) + %s);\n", place,
                       place, rg_c_expr_text(p, v, RG_P_MUL));
        return;
    }
    rg_c_place(p, i);
    if (rg_def_op(f, v) == RG_NEG && rg_cplan_folded(p->plan, v)) {
        rg_text_add(p->out, " -= ");
        v = rg_operand(f, f->vals.at[v].def, 0);
    } else
        rg_text_add(p->out, " += ");
    rg_c_expr(p, v, RG_P_ASSIGN);
    rg_text_add(p->out, ";\n");
}

void rg_c_call_rmw(rg_cprint *p, rg_iid i, rg_red kind, bool now) {
    const rg_ins *s = &p->f->ins.at[i];
    rg_mem m = rg_ins_leaf(p->f, s)->mem;
    p->helpers->rmw[kind][m] = true;
    p->helpers->string = true;
    if (m == RG_M_F16) {
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
        rg_c_use(p->helpers, RG_H_HALF_STORE);
    }
    rg_text_format(p->out, "rg_atomic_%s_%s(&%s, %s, %d);\n", rg_red_name(kind), rg_mem_name(m),
                   rg_c_place_text(p, i), rg_c_expr_text(p, rg_c_stored(p->f, s), RG_P_ASSIGN),
                   now);
}
