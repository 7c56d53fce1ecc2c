/* The op table, made from ops.def, and the functions of ir.h that are too big to be inline. */
#include "ir/ir.h"

#include <string.h>

#define FLT RG_F_FLT
#define INT RG_F_INT
#define BOO RG_F_BOO
#define NUM (RG_F_FLT | RG_F_INT)
#define LOG (RG_F_INT | RG_F_BOO)
#define ALL (RG_F_FLT | RG_F_INT | RG_F_BOO)
#define COMM RG_F_COMM
#define EXACT RG_F_EXACT
#define READ RG_F_READ
#define WRITE RG_F_WRITE
#define RGN RG_F_RGN
#define NFX RG_F_NFX
#define NFY RG_F_NFY
#define FIXED RG_F_FIXED
const rg_op_info rg_ops[RG_N_OPS] = {
    [RG_OP_NONE] = {.text = "none", .type = RG_T_NONE, .diff = RG_D_REFUSED},
#define OP(id, text_, operands_, type_, flags_, diff_, dx, dy, dz, c_, spirv_)                     \
    [RG_##id] = {.text = text_,                                                                    \
                 .operands = operands_,                                                            \
                 .type = RG_T_##type_,                                                             \
                 .flags = flags_,                                                                  \
                 .diff = RG_D_##diff_,                                                             \
                 .partial = {dx, dy, dz},                                                          \
                 .c = c_,                                                                          \
                 .spirv = spirv_},
#include "ir/ops.def"
#undef OP
};
#undef FLT
#undef INT
#undef BOO
#undef NUM
#undef LOG
#undef ALL
#undef COMM
#undef EXACT
#undef READ
#undef WRITE
#undef RGN
#undef NFX
#undef NFY
#undef FIXED

rg_op rg_op_find(const char *text, size_t n) {
    for (int op = RG_OP_NONE + 1; op < RG_N_OPS; op++)
        if (strncmp(rg_ops[op].text, text, n) == 0 && rg_ops[op].text[n] == '\0')
            return (rg_op)op;
    return RG_OP_NONE;
}

bool rg_op_is_pure(rg_op op) {
    /* red changes an accumulator in order; yield is control. */
    return op != RG_OP_NONE && op != RG_RED && op != RG_YIELD &&
           !(rg_ops[op].flags & (RG_F_READ | RG_F_WRITE | RG_F_RGN | RG_F_FIXED));
}

const char *rg_red_name(rg_red r) {
    static const char *const names[] = {"add", "mul", "min",  "max", "and",
                                        "or",  "xor", "land", "lor", "set"};
    return (unsigned)r < sizeof names / sizeof *names ? names[r] : "none";
}

const char *rg_mode_name(rg_mode m) {
    static const char *const names[] = {"primal",           "tangent", "adjoint",      "hvp",
                                        "adjointoftangent", "record",  "recordtangent"};
    return (unsigned)m < sizeof names / sizeof *names ? names[m] : "none";
}

rg_fn *rg_fn_new(rg_arena *a, rg_ir_module *m, const char *name) {
    rg_fn *f = RG_NEW(a, rg_fn);
    f->arena = a;
    f->module = m;
    f->name = rg_strdup(a, name);
    RG_PUSH(a, &f->vals, (rg_value){0});
    RG_PUSH(a, &f->ins, (rg_ins){0});
    RG_PUSH(a, &f->regions, (rg_region){0});
    RG_PUSH(a, &f->arrays, (rg_array){0});
    RG_PUSH(a, &f->pool, 0);
    RG_PUSH(a, &f->regions, (rg_region){0});
    f->body = 1;
    return f;
}

/* Copy of n items; the capacity is what is copied. */
static void *copy_items(rg_arena *a, const void *from, size_t n, size_t size) {
    if (n == 0)
        return NULL;
    void *to = rg_alloc(a, n * size);
    memcpy(to, from, n * size);
    return to;
}
#define COPY_VEC(a, v)                                                                             \
    do {                                                                                           \
        (v)->at = copy_items((a), (v)->at, (v)->n, sizeof *(v)->at);                               \
        (v)->cap = (v)->n;                                                                         \
    } while (0)

static const char *copy_text(rg_arena *a, const char *s) {
    return s ? rg_strdup(a, s) : NULL;
}

rg_fn *rg_fn_clone(rg_arena *a, const rg_fn *f) {
    bool strings = a != f->arena; /* in the same arena they live as long as the copy */
    rg_fn *g = RG_NEW(a, rg_fn);
    *g = *f;
    g->arena = a;
    COPY_VEC(a, &g->vals);
    COPY_VEC(a, &g->ins);
    COPY_VEC(a, &g->regions);
    COPY_VEC(a, &g->arrays);
    COPY_VEC(a, &g->params);
    COPY_VEC(a, &g->scalars);
    COPY_VEC(a, &g->pool);
    for (uint32_t r = 0; r < g->regions.n; r++) {
        COPY_VEC(a, &g->regions.at[r].ins);
        COPY_VEC(a, &g->regions.at[r].args);
    }
    for (uint32_t k = 0; k < g->arrays.n; k++) {
        rg_array *array = &g->arrays.at[k];
        if (array->extents)
            array->extents = copy_items(a, array->extents, array->rank, sizeof(rg_val));
    }
    for (uint32_t k = 0; k < g->params.n; k++) {
        rg_param *p = &g->params.at[k];
        if (!p->extent_text)
            continue;
        p->extent_text = copy_items(a, p->extent_text, p->rank, sizeof *p->extent_text);
        for (uint32_t d = 0; strings && d < p->rank; d++)
            p->extent_text[d] = copy_text(a, p->extent_text[d]);
    }
    if (!strings)
        return g;
    g->name = copy_text(a, g->name);
    for (uint32_t k = 0; k < g->vals.n; k++)
        g->vals.at[k].name = copy_text(a, g->vals.at[k].name);
    for (uint32_t k = 0; k < g->arrays.n; k++)
        g->arrays.at[k].name = copy_text(a, g->arrays.at[k].name);
    for (uint32_t k = 0; k < g->params.n; k++)
        g->params.at[k].name = copy_text(a, g->params.at[k].name);
    for (uint32_t k = 0; k < g->scalars.n; k++)
        g->scalars.at[k].path = copy_text(a, g->scalars.at[k].path);
    return g;
}

uint32_t rg_first_init(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = &f->ins.at[i];
    switch (ins->op) {
    case RG_IF:
        return 1;
    case RG_FOR:
        return 2;
    case RG_PARALLEL:
        return 2 * (uint32_t)ins->imm.i;
    default:
        return 0;
    }
}

uint32_t rg_first_carried(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = &f->ins.at[i];
    switch (ins->op) {
    case RG_FOR:
        return 1;
    case RG_PARALLEL:
        return (uint32_t)ins->imm.i;
    default:
        return 0;
    }
}

rg_op rg_op_mirrored(rg_op op) {
    switch (op) {
    case RG_LT:
        return RG_GT;
    case RG_LE:
        return RG_GE;
    case RG_GT:
        return RG_LT;
    case RG_GE:
        return RG_LE;
    default:
        return op;
    }
}

bool rg_region_inside(const rg_fn *f, rg_rid r, rg_rid outer) {
    while (r != outer) {
        rg_iid owner = f->regions.at[r].owner;
        if (!owner)
            return false;
        r = f->ins.at[owner].parent;
        if (!r) /* a region whose owner is listed nowhere */
            return false;
    }
    return true;
}

rg_rid rg_val_region(const rg_fn *f, rg_val v) {
    const rg_value *value = &f->vals.at[v];
    return value->def ? f->ins.at[value->def].parent : value->region;
}
