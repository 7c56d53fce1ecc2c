/* The IR: structured SSA.
 *
 * A function (rg_fn) is one variant of one kernel. Its body is a region; a region is a list of
 * instructions; `if`, `for`, `loop` and `parallel` own regions. Scalars are SSA values; structs are
 * taken apart into their scalars; what remains in memory is arrays. Values, instructions, regions
 * and arrays are u32 indices into the function's tables; index 0 is reserved and means none.
 *
 * Regions, their arguments, and what their last instruction (always `yield`) hands back:
 *
 *   if c            regions {then, else}, no arguments; each yields the results.
 *   for lo hi inits region arguments (iv, carried...), yields (carried...), results (carried...).
 *                   iv runs lo, lo+1, ... hi-1 (its type is lo's and hi's: any integer type); with
 *                   RG_INS_REVERSE it runs hi-1 down to lo. No iteration if hi <= lo.
 *   loop inits      region arguments (carried...), yields (again, carried...), results
 *                   (carried...). The body runs at least once and repeats while `again` is true.
 *                   (`while (c) b` is: loop { c; carried = if c { b }; yield c, carried }.)
 *   parallel        at kernel level only (inside kernel-level if, for, loop; never in another
 *                   parallel). imm.i = number of ranges (1 to 3); operands lo0 hi0 [lo1 hi1 ..]
 *                   then the initial values of reductions; arguments (iv0 .. , accumulators...);
 *                   yields (accumulators...), results (accumulators combined over all iterations).
 *                   Accumulators change through `red` only. reds (pool offset in aux): one rg_red
 *                   for each reduction.
 *   kernel body     no arguments, empty yield.
 *
 * A value may be used in its own region after its definition, and in regions nested there.
 *
 * Memory ops: ins.array, ins.leaf; operands: one index for each axis of the array, one for each
 * axis of the leaf, then the value (store, addto, rmw). rmw: imm.i = rg_red kind with
 * RG_INS_CAPTURE_NEW when the result is the new value, else the old; its result may be unused.
 * pair (ops.def) names two arrays of one shape and stands for any use of either.
 * alloc: a local array comes to life here, once for each time the instruction runs; its operands
 * are its extents (i64); RG_ARR_GROW has none: it is one axis, and a store past the end grows it.
 * copy: array <- array2, whole. If array has more axes than array2, the operands are the leading
 * indices of array; if fewer, of array2. Element types are the same.
 */
#ifndef RG_IR_IR_H
#define RG_IR_IR_H

#include "base/arena.h"
#include "base/diag.h"
#include "ir/types.h"

typedef uint32_t rg_val; /* value */
typedef uint32_t rg_iid; /* instruction */
typedef uint32_t rg_rid; /* region */
typedef uint32_t rg_aid; /* array */

typedef enum rg_op {
    RG_OP_NONE,
#define OP(id, ...) RG_##id,
#include "ir/ops.def"
#undef OP
    RG_N_OPS
} rg_op;

enum { /* flags of rg_op_info: see ops.def */
       RG_F_FLT = 1,
       RG_F_INT = 2,
       RG_F_BOO = 4,
       RG_F_COMM = 8,
       RG_F_EXACT = 16,
       RG_F_READ = 32,
       RG_F_WRITE = 64,
       RG_F_RGN = 128,
       RG_F_NFX = 256,
       RG_F_NFY = 512,
       RG_F_FIXED = 1024
};
typedef enum rg_type_rule {
    RG_T_SAME,
    RG_T_CMP,
    RG_T_SEL,
    RG_T_TEST,
    RG_T_SHIFT,
    RG_T_SCALE,
    RG_T_FREE,
    RG_T_NONE
} rg_type_rule;
typedef enum rg_diff { RG_D_RULE, RG_D_NONDIFF, RG_D_REFUSED, RG_D_STRUCT } rg_diff;

typedef struct rg_op_info {
    const char *text;
    int operands;
    rg_type_rule type;
    uint32_t flags;
    rg_diff diff;
    const char *partial[3];
    const char *c;
    const char *spirv;
} rg_op_info;

extern const rg_op_info rg_ops[RG_N_OPS];
rg_op rg_op_find(const char *text, size_t n); /* RG_OP_NONE when unknown */
/* No memory, no region, no control: may be removed when unused, merged, moved. */
bool rg_op_is_pure(rg_op op);

/* Operators of reductions and of atomic read-modify-write. */
typedef enum rg_red {
    RG_RED_ADD,
    RG_RED_MUL,
    RG_RED_MIN,
    RG_RED_MAX,
    RG_RED_AND,
    RG_RED_OR,
    RG_RED_XOR,
    RG_RED_LAND,
    RG_RED_LOR, /* logical, on bool accumulators */
    RG_RED_SET  /* rmw only: exchange */
} rg_red;
const char *rg_red_name(rg_red r); /* "add" ... */

enum {                         /* flags of instructions */
       RG_INS_ATOMIC = 1,      /* load, store, addto: may meet another iteration */
       RG_INS_REVERSE = 2,     /* for: downwards */
       RG_INS_CAPTURE_NEW = 4, /* rmw: the result is the value after */
       RG_INS_PRIVATE = 8,     /* addto to a shared array that every thread may do in its own copy,
                                  added together after the task (accumulation analysis sets it) */
       RG_INS_ACCUM = 16, /* addto made by the adjoint: how it accumulates is not yet decided */
       RG_INS_SAVE = 32,  /* store or copy into a save array, load or copy out of it (explain) */
       RG_INS_SCALARIZED = 64, /* addto, parallel: its atomic became a reduction (explain) */
       RG_INS_FREE = 128, /* for: the adjoint's own, its iterations may run in any order and its
                             carried sums be added in any order */
       RG_INS_CHECKPOINT = 256, /* for, loop: each iteration is a block of steps of the source's
                                   loop. The adjoint saves what is needed at the start of each
                                   block, and runs the block again when it gets there; never
                                   unrolled */
       RG_INS_GATHERED =
           512,             /* addto: what several iterations would add, summed by one (explain) */
       RG_INS_LOOSE = 1024, /* add, mul: may be contracted to a fused operation */
       RG_INS_KEPT = 2048   /* copy, in what is differentiated: what the recorded launch left in
                               the array, which is what it holds but for rounding: no change to
                               derivatives. load: a recorded value takes its place, it has the
                               cotangent only */
};

typedef struct rg_ins {
    uint16_t op;
    uint16_t flags;
    rg_rid parent;        /* region that lists it */
    uint32_t opnd, nopnd; /* pool offset and count: value ids */
    uint32_t res, nres;   /* pool offset and count: value ids */
    rg_rid region[2];
    rg_aid array, array2;
    uint32_t leaf; /* index into the element type's leaves */
    uint32_t aux;  /* pool offset; parallel: reduction kinds */
    rg_loc loc;
    union {
        int64_t i; /* CONST of bool and integers (u64 as bits), axis, scalar index, kinds */
        double f;  /* CONST of f32 (exactly representable) and f64 */
    } imm;
} rg_ins;

typedef struct rg_value {
    rg_type type;
    rg_iid def;       /* defining instruction; RG none for region arguments */
    rg_rid region;    /* region whose argument it is; none for results */
    uint32_t index;   /* which result or argument */
    const char *name; /* the source's name for it, or NULL */
} rg_value;

typedef struct rg_region {
    rg_iid owner;       /* instruction that owns it; 0: the kernel's body */
    RG_VEC(rg_iid) ins; /* the last one is yield */
    RG_VEC(rg_val) args;
} rg_region;

typedef enum rg_array_kind {
    RG_ARR_PARAM,  /* a parameter's data */
    RG_ARR_SHADOW, /* gradient and/or tangent of a parameter (array or scalar) */
    RG_ARR_LOCAL   /* made by alloc; at kernel level it is shared by all iterations */
} rg_array_kind;

enum {                 /* shadow: bits */
       RG_SH_GRAD = 1, /* x_b: gradient */
       RG_SH_DOT = 2   /* x_d: tangent; both: tangent of the gradient */
};
enum {                      /* flags of arrays */
       RG_ARR_CONST = 1,    /* declared const: never written */
       RG_ARR_ZERO = 2,     /* local: zero when alloc runs */
       RG_ARR_GROW = 4,     /* local, one axis, grows at stores */
       RG_ARR_SAVE = 8,     /* local: made by the adjoint to save values (explain) */
       RG_ARR_WRITTEN = 16, /* parameter: some store, addto or rmw reaches it in the primal */
       RG_ARR_BEFORE = 32,  /* parameter of an adjoint: must hold its value from before f */
       RG_ARR_AFTER = 64    /* parameter of an adjoint: must hold its value from after f */
};

typedef struct rg_ir_array {
    const char *name;
    rg_array_kind kind;
    uint32_t flags;
    uint32_t shadow; /* RG_SH_ bits; 0 for data */
    const rg_elem *elem;
    uint32_t rank;   /* axes, without those inside the element */
    rg_val *extents; /* [rank] i64 values of the kernel's entry region; of an alloc: its
                        operands; RG none: not declared (T *x, T (*x)[3]: the argument's) */
    uint32_t param;  /* PARAM and SHADOW: index into params */
    rg_loc loc;
} rg_ir_array;

/* A parameter of the kernel, in the source's order. */
typedef struct rg_param {
    const char *name;
    bool is_array;
    rg_aid array;                    /* its data array */
    const rg_elem *elem;             /* element type, or the by-value type */
    uint32_t first_scalar, nscalars; /* by value: its leaves in rg_fn.scalars */
    uint32_t rank;
    const char **extent_text; /* [rank] C text of each declared extent; NULL: not declared */
    bool is_const;
    rg_loc loc;
} rg_param;

/* A scalar of a by-value parameter: `scalar imm.i` reads it. */
typedef struct rg_scalar {
    uint32_t param;
    rg_mem mem;
    uint32_t offset;  /* bytes within the parameter's value */
    const char *path; /* "" or ".a.x" or ".m[0][1]": C text after the parameter's name */
} rg_scalar;

/* Never the mode of an rg_fn itself: RG_ADJOINT_OF_TANGENT, whose function looks like that of
 * RG_HVP (the tangent of the adjoint) and computes the same; RG_RECORD and RG_RECORD_TANGENT, which
 * are a primal and a tangent that also fill record arrays (ad.h): never the mode of an rg_fn
 * itself. */
typedef enum rg_mode {
    RG_PRIMAL,
    RG_TANGENT,
    RG_ADJOINT,
    RG_HVP,
    RG_ADJOINT_OF_TANGENT,
    RG_RECORD,
    RG_RECORD_TANGENT
} rg_mode;
const char *rg_mode_name(rg_mode m); /* "primal" ... */

/* What carries a gradient, and which parameters share memory: decided at launch. */
typedef struct rg_activity {
    uint32_t nparams;
    uint8_t *active; /* [nparams] array or scalar parameter has a gradient (tangent) */
    uint32_t *group; /* [nparams] parameters bound to the same array share a number; NULL: none */
    uint32_t own;    /* parameters that are the kernel's, before its record arrays; 0: all */
    bool alone;      /* adjoint: no record arrays but those of captures */
    const uint8_t *wanted; /* which record arrays are filled, or read; NULL: all */
} rg_activity;

/* A translation unit after the front-end: struct types in declaration order and its kernels. */
typedef struct rg_ir_module {
    rg_arena *arena;
    rg_sources *sources;
    RG_VEC(rg_elem *) structs;
    RG_VEC(struct rg_fn *) kernels;
} rg_ir_module;

typedef struct rg_fn {
    rg_arena *arena;
    rg_ir_module *module;
    const char *name; /* the kernel's */
    rg_mode mode;
    rg_loc loc;
    RG_VEC(rg_value) vals;
    RG_VEC(rg_ins) ins;
    RG_VEC(rg_region) regions;
    RG_VEC(rg_ir_array) arrays;
    RG_VEC(rg_param) params;
    RG_VEC(rg_scalar) scalars;
    RG_VEC(uint32_t) pool; /* operand and result lists; pool.at[0] unused */
    rg_rid body;
    struct rg_fn *adjoint; /* the kernel that a pragma names as its adjoint, or NULL */
} rg_fn;

rg_fn *rg_fn_new(rg_arena *a, rg_ir_module *m, const char *name);
/* Deep copy into arena a (module shared). */
rg_fn *rg_fn_clone(rg_arena *a, const rg_fn *f);

/* Short names while the public header's are not in sight. */
#ifndef RETROGRAD_H
typedef rg_ir_array rg_array;
typedef rg_ir_module rg_module;
#endif

static inline rg_ins *rg_ins_at(const rg_fn *f, rg_iid i) {
    return &f->ins.at[i];
}
static inline rg_region *rg_region_at(const rg_fn *f, rg_rid r) {
    return &f->regions.at[r];
}
static inline rg_ir_array *rg_array_at(const rg_fn *f, rg_aid a) {
    return &f->arrays.at[a];
}
static inline rg_value *rg_value_at(const rg_fn *f, rg_val v) {
    return &f->vals.at[v];
}
static inline rg_type rg_type_of(const rg_fn *f, rg_val v) {
    return f->vals.at[v].type;
}
static inline rg_val rg_operand(const rg_fn *f, rg_iid i, uint32_t k) {
    return f->pool.at[f->ins.at[i].opnd + k];
}
static inline rg_val rg_result(const rg_fn *f, rg_iid i, uint32_t k) {
    return f->pool.at[f->ins.at[i].res + k];
}
/* The op that defines v, RG_OP_NONE for region arguments. */
static inline rg_op rg_def_op(const rg_fn *f, rg_val v) {
    rg_iid d = f->vals.at[v].def;
    return d ? (rg_op)f->ins.at[d].op : RG_OP_NONE;
}
/* An `if` that is a call with an adjoint by the user: see RG_OWN in ops.def. */
static inline bool rg_is_own_call(const rg_fn *f, rg_iid i) {
    return f->ins.at[i].op == RG_IF && rg_def_op(f, rg_operand(f, i, 0)) == RG_OWN;
}
/* The yield that ends a region. */
static inline rg_iid rg_yield_of(const rg_fn *f, rg_rid r) {
    const rg_region *g = &f->regions.at[r];
    return g->ins.at[g->ins.n - 1];
}
static inline bool rg_val_const_int(const rg_fn *f, rg_val v, int64_t *out) {
    if (rg_def_op(f, v) != RG_CONST || rg_type_is_float(f->vals.at[v].type))
        return false;
    *out = f->ins.at[f->vals.at[v].def].imm.i;
    return true;
}
static inline bool rg_val_const_real(const rg_fn *f, rg_val v, double *out) {
    if (rg_def_op(f, v) != RG_CONST || !rg_type_is_float(f->vals.at[v].type))
        return false;
    *out = f->ins.at[f->vals.at[v].def].imm.f;
    return true;
}
/* Element type's leaf that a memory instruction touches. */
static inline const rg_leaf *rg_ins_leaf(const rg_fn *f, const rg_ins *i) {
    return &f->arrays.at[i->array].elem->leaves[i->leaf];
}
/* Index operands of a memory access: the array's axes and the leaf's. */
static inline uint32_t rg_ins_nindices(const rg_fn *f, const rg_ins *i) {
    return f->arrays.at[i->array].rank + rg_ins_leaf(f, i)->ndims;
}
/* First operand of `for` and `parallel` that is a carried initial value (for: 2; parallel: 2 x
 * ranges; loop: 0); argument index of the first carried argument (for: 1; parallel: ranges). */
uint32_t rg_first_init(const rg_fn *f, rg_iid i);
uint32_t rg_first_carried(const rg_fn *f, rg_iid i);
/* Is region r inside (or equal to) region outer? */
rg_op rg_op_mirrored(rg_op op); /* a < b is b > a; others: op itself */
/* Writes one element: not a copy, which writes whole arrays. */
static inline bool rg_writes_element(const rg_ins *i) {
    return i->op == RG_STORE || i->op == RG_ADDTO || i->op == RG_RMW;
}
bool rg_region_inside(const rg_fn *f, rg_rid r, rg_rid outer);
/* The region in which v is defined. */
rg_rid rg_val_region(const rg_fn *f, rg_val v);

#endif
