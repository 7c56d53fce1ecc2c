/* Modules, their kernels, and the programs (variants made ready for a device) that they have. */
#ifndef RG_RUNTIME_MODULE_H
#define RG_RUNTIME_MODULE_H

#include "retrograd.h"

#include "ad/ad.h"
#include "compile/compile.h"
#include "emit/layout.h"
#include "ir/interp.h"
#include "runtime/device.h"
#include "runtime/uses.h"

/* A declared extent, prepared so that a launch need not walk the IR for the usual `n`. */
typedef enum rg_extent_kind {
    RG_EXTENT_FREE,   /* not declared */
    RG_EXTENT_CONST,  /* value */
    RG_EXTENT_SCALAR, /* an integer of by-value parameter `param` at offset, of type mem */
    RG_EXTENT_VALUE   /* any expression: val */
} rg_extent_kind;
typedef struct rg_extent {
    rg_extent_kind kind;
    int64_t value;
    uint32_t param, offset;
    rg_mem mem;
    rg_val val;
} rg_extent;

typedef struct rg_param_use {
    const char *name;
    bool is_array, has_float;
    rg_uses uses;
    rg_dtype dtype;
    size_t item_size;
    uint32_t rank;
    rg_extent *extents; /* [rank] */
} rg_param_use;

/* Does a program of the mode sweep backward, from what a launch has left? */
static inline bool rg_mode_goes_back(rg_mode m) {
    return m == RG_ADJOINT || m == RG_HVP || m == RG_ADJOINT_OF_TANGENT;
}

/* Where a pointer goes in the argument block, and which. */
typedef struct rg_pointer {
    uint32_t offset;
    uint32_t array; /* of the function: for the interpreter */
    uint32_t param;
    bool shadow;
    bool dot, product; /* of a Hessian-vector product, whose gradients are the shadows */
} rg_pointer;

static inline unsigned char *rg_pointer_at(const rg_pointer *p, const rg_binding *b) {
    return p->product ? b->product : p->dot ? b->dot : p->shadow ? b->shadow : b->data;
}

typedef struct rg_program {
    struct rg_program *next;
    struct rg_kernel *kernel;
    rg_mode mode;
    uint8_t *active;  /* [params] */
    uint8_t *wanted;  /* [record arrays] RG_RECORD, RG_RECORD_TANGENT: those that it fills;
                         RG_ADJOINT: those that it may read; NULL: all */
    uint8_t *records; /* of a mode that goes back: [record arrays] those that it reads */
    uint32_t blocks;  /* levels of blocks that its long loops run in (fit.c) */
    rg_iid *saves;    /* [nsaves] allocs of what loops save, but for small constant ones */
    uint32_t nsaves;
    rg_variant *variant; /* NULL: the unit's own primal */
    const rg_fn *fn;
    rg_layout *layout;
    rg_pointer *pointers;
    uint32_t npointers;
    uint8_t *reads; /* [params] array whose data it loads */
    bool ready;
    void *block;             /* cpu: the argument block */
    void *entry;             /* cpu: an rg_cpu_entry */
    rg_interp_array *arrays; /* ref: [fn->arrays.n] */
    const void **scalars;    /* ref: [params] */
} rg_program;

struct rg_kernel {
    rg_handle handle;
    rg_module *module;
    uint32_t index;
    const rg_fn *fn;
    uint32_t nparams;
    rg_record_counts records; /* arrays that programs of a recorded launch have besides */
    rg_param_use *params;
    rg_program *primal;   /* once asked for */
    rg_program *programs; /* the others, latest first */
    /* What the launch being made is on: a context runs one at a time. */
    rg_binding *bindings;   /* [nparams + records.all] */
    uint8_t *active;        /* [nparams] */
    const void **values;    /* [nparams] by-value parameters */
    const int64_t **shapes; /* [nparams] arrays */
    uint8_t *kept;          /* [records.all] those that are not too large for the launch */
    uint32_t *same;         /* [nparams] 1 + earlier parameter with the same gradient; 0: none */
};

struct rg_module {
    rg_handle handle;
    rg_context *ctx;
    rg_device *dev; /* NULL: compile and emit only */
    rg_unit *unit;
    rg_arena *arena; /* kernels and programs */
    rg_kernel *kernels;
    uint32_t nkernels;
    uint64_t tape_memory; /* bytes that an adjoint may save for its loops */
    void *code;           /* the device's: what prepare loaded */
};

void rg_module_retain(rg_module *m);
void rg_module_drop(rg_module *m);

/* Fails with the diagnostics' text. sources: the arena of the module that they point into. */
rg_status rg_refuse(rg_context *ctx, const rg_diags *d, rg_arena *sources, rg_status status);

/* NULL, or words for what is wrong with the handle. */
const char *rg_kernel_fault(const rg_kernel *k);

/* The program for a mode and its active parameters, built if need be; not yet prepared. */
rg_status rg_program_get(rg_kernel *k, rg_mode mode, const uint8_t *active, rg_program **out);
/* The adjoint that reads no record arrays but those wanted (NULL: all; captures always are), its
 * long loops in blocks (NULL: none). */
rg_status rg_program_get_as(rg_kernel *k, rg_mode mode, const uint8_t *active,
                            const uint8_t *wanted, const struct rg_ad_blocks *blocks,
                            rg_program **out);
/* The primal (of second order: the tangent) that fills the record arrays which an adjoint reads;
 * the primal itself when it reads none. */
rg_status rg_program_get_recording(const rg_program *adjoint, rg_program **out);
/* Does the adjoint read record array i? */
bool rg_program_reads_record(const rg_program *adjoint, uint32_t i);
/* Shape of record array i for the launch that k's values and shapes are of; false: no value. */
bool rg_program_record_shape(const rg_program *p, uint32_t i, int64_t *shape);
/* Value v of the program's function for the launch that k's values and shapes are of; of a `for`,
 * the variable's first value or its last. False: it is not known before the launch. */
bool rg_program_value(const rg_program *p, rg_val v, bool last, int64_t *out);
/* A variant for its text only. Free with rg_variant_free. */
rg_status rg_kernel_variant(rg_kernel *k, rg_mode mode, const rg_activity *act,
                            const struct rg_ad_blocks *blocks, rg_variant **out);

/* Value of a declared extent; values[j]: bytes of by-value parameter j, or NULL when not known.
 * False: not known. shapes may be NULL; else shapes[j] is array parameter j's shape. */
bool rg_extent_value(const rg_kernel *k, const rg_extent *e, const void *const *values,
                     const int64_t *const *shapes, int64_t *out);

#endif
