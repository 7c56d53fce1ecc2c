/* One SPIR-V function in the making: a task, or a function of the maths library. */
#ifndef RG_EMIT_SPIRV_FUNCTION_H
#define RG_EMIT_SPIRV_FUNCTION_H

#include "emit/spirv/module.h"

/* How many bits of a 64-bit integer value anything asks for. */
enum { RG_SPV_FULL = 1, RG_SPV_LOW = 2 };

/* An array as the function knows it. Ids are 0 until they are first needed. */
typedef struct rg_spv_array_state {
    uint32_t outer;    /* place + 1 in task.arrays; 0: the task's own */
    uint32_t scratch;  /* place + 1 in task.scratch */
    uint32_t base;     /* pointer to the first element (address), offset in words (offset mode) */
    uint32_t word[4];  /* the same for views as words of 1 << k bytes */
    uint32_t *extent;  /* [rank] in the index type; of the task's own: as alloc ran last */
    uint32_t *column;  /* [leaves] scratch: as base; variables of the invocation: the variable */
    uint32_t capacity; /* scratch, and arrays that grow: elements there is memory for */
    uint32_t length;   /* variable with the length so far, of an array of its own that grows */
} rg_spv_array_state;

typedef struct rg_spv_member {
    uint32_t offset, type;
    const char *name;
    uint32_t pointer; /* tests: the type that an integer is made; 0: none */
} rg_spv_member;

typedef struct rg_spv_names {
    uint32_t *id, *low;
} rg_spv_names;

typedef struct rg_spv_fn {
    rg_spv *s;
    struct rg_spv_maths *maths; /* library functions asked for so far */
    const rg_fn *f;
    const rg_task_plan *plan; /* NULL: a library function */
    const rg_task *task;
    const rg_task_layout *layout;
    rg_spv_words vars, entry, code;
    rg_spv_words *out;           /* entry or code */
    uint32_t entry_label, block; /* label of the block being written */
    uint32_t *id, *low;          /* [vals] the value, and its low 32 bits */
    rg_spv_names outside;        /* those of the function while a lane's are in their place */
    uint8_t *demand;             /* [vals] */
    rg_loc loc;                  /* of the last OpLine */
    bool address, index64;
    uint32_t t_index;
    uint32_t args;      /* the argument block's variable */
    uint32_t args_type; /* address mode: its struct; offset mode: words */
    RG_VEC(rg_spv_member) members;
    RG_VEC(uint32_t) interface;
    rg_spv_array_state *arrays;
    uint32_t slots[4];                /* views of the slots: 32 and 64 bits, the same as floats */
    uint32_t invocation, invocations; /* in the index type; stretch: 0 */
    uint32_t workgroup;
    uint32_t zero_bits, zero[2]; /* hide_literals: a 0 that no driver can work out; as floats */
    uint64_t bindings[4];
} rg_spv_fn;

void rg_spv_fn_init(rg_spv_fn *c, rg_spv *s, struct rg_spv_maths *m, const rg_fn *f);

/* Instructions with and without a result, at the end of c->out. */
uint32_t rg_spv_emit(rg_spv_fn *c, SpvOp op, uint32_t type, const uint32_t *words, uint32_t n);
void rg_spv_do(rg_spv_fn *c, SpvOp op, const uint32_t *words, uint32_t n);
#define RG_SPV_OP(c, op, type, ...)                                                                \
    rg_spv_emit((c), (op), (type), (const uint32_t[]){__VA_ARGS__},                                \
                sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define RG_SPV_DO(c, op, ...)                                                                      \
    rg_spv_do((c), (op), (const uint32_t[]){__VA_ARGS__},                                          \
              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
uint32_t rg_spv_ext(rg_spv_fn *c, uint32_t which, uint32_t type, const uint32_t *x, uint32_t n);
/* A float operation that must not be contracted. */
uint32_t rg_spv_exact(rg_spv_fn *c, uint32_t id);
void rg_spv_label(rg_spv_fn *c, uint32_t label); /* starts a block */
void rg_spv_branch(rg_spv_fn *c, uint32_t label);
/* Header of an if without else (both then go on at merge): writes the merge and the branch, and
 * starts the then-block. End it with rg_spv_branch and rg_spv_label(merge). */
uint32_t rg_spv_if(rg_spv_fn *c, uint32_t cond);
uint32_t rg_spv_variable(rg_spv_fn *c, uint32_t type); /* Function storage; its id */
uint32_t rg_spv_phi(rg_spv_fn *c, uint32_t type, uint32_t a, uint32_t from_a, uint32_t b,
                    uint32_t from_b);
void rg_spv_line(rg_spv_fn *c, rg_loc loc);
/* Error that names the line and what the device lacks. */
void rg_spv_lacks(rg_spv_fn *c, rg_loc loc, const char *feature);
extern const char rg_spv_int64_feature[];

/* Values. */
uint32_t rg_spv_val(rg_spv_fn *c, rg_val v);
uint32_t rg_spv_low(rg_spv_fn *c, rg_val v);   /* low 32 bits of an integer */
uint32_t rg_spv_index(rg_spv_fn *c, rg_val v); /* in the index type */
/* A float constant that arithmetic may meet: a literal, or with caps.hide_literals one in disguise.
 */
uint32_t rg_spv_real(rg_spv_fn *c, rg_type t, double v);
/* 0 as a u32, which no driver can work out. */
uint32_t rg_spv_zero_bits(rg_spv_fn *c);
/* Made of integers that the driver may know: the same, such that it does not know it. */
uint32_t rg_spv_hide_real(rg_spv_fn *c, rg_type t, uint32_t x);
uint32_t rg_spv_hide_bits(rg_spv_fn *c, rg_type t, uint32_t x);
uint32_t rg_spv_const_index(rg_spv_fn *c, uint64_t v);
/* Any integer id of 32 or 64 bits (signed: how it widens) to the index type. */
uint32_t rg_spv_to_index(rg_spv_fn *c, uint32_t id, bool wide, bool is_signed);
void rg_spv_check_type(rg_spv_fn *c, rg_type t, rg_loc loc);

/* task.c: a built-in input, loaded in the first block */
uint32_t rg_spv_builtin(rg_spv_fn *c, SpvBuiltIn what, uint32_t type);
/* The function's words: variables, first block, code. body: id of the function. */
void rg_spv_fn_finish(rg_spv_fn *c, uint32_t id, uint32_t result, const uint32_t *params,
                      const uint32_t *param_types, uint32_t n);

/* ops.c */
uint32_t rg_spv_pure(rg_spv_fn *c, rg_iid i);
uint32_t rg_spv_pure_low(rg_spv_fn *c, rg_iid i);
uint32_t rg_spv_combine(rg_spv_fn *c, rg_red kind, rg_type t, uint32_t a, uint32_t b);
uint32_t rg_spv_math(rg_spv_fn *c, rg_op op, rg_type t, const uint32_t *x);
uint32_t rg_spv_half_to_float(rg_spv_fn *c, uint32_t bits); /* u32 to f32 */
uint32_t rg_spv_half_from_float(rg_spv_fn *c, uint32_t value);
uint32_t rg_spv_wrap(rg_spv_fn *c, rg_mem m, rg_type t, uint32_t x);

/* parallel.c: the task's parallel loop and what it reduces to */
void rg_spv_parallel(rg_spv_fn *c);

/* region.c */
void rg_spv_region(rg_spv_fn *c, rg_rid r);
void rg_spv_instruction(rg_spv_fn *c, rg_iid i);
void rg_spv_demand(rg_spv_fn *c, const rg_iid *list, uint32_t n);
/* After a counted loop of type t: says so if low < high still (caps.loops_end_early). */
void rg_spv_guard_for(rg_spv_fn *c, rg_type t, uint32_t low, uint32_t high);
void rg_spv_guard_task(rg_spv_fn *c); /* the same for all that a task has run */

/* args.c */
void rg_spv_args_begin(rg_spv_fn *c);
uint32_t rg_spv_arg_index(rg_spv_fn *c, uint32_t offset); /* an i64 member in the index type */
uint32_t rg_spv_arg_value(rg_spv_fn *c, uint32_t offset, rg_type t);
uint32_t rg_spv_arg_low(rg_spv_fn *c, uint32_t offset, rg_type t);
/* Reference member: pointer, or offset in words of `bytes`. */
uint32_t rg_spv_arg_reference(rg_spv_fn *c, uint32_t offset, uint32_t bytes);
void rg_spv_block_interface(rg_spv_fn *c, uint32_t variable);
/* Runtime array of words (or of float words) of a memory block; offset mode. */
uint32_t rg_spv_block(rg_spv_fn *c, uint32_t block, uint32_t bytes, bool is_float);

/* memory.c */
void rg_spv_load(rg_spv_fn *c, rg_iid i);
void rg_spv_store(rg_spv_fn *c, rg_iid i);
void rg_spv_addto(rg_spv_fn *c, rg_iid i);
/* An addto that is a load, a sum and a store can be done in two steps. */
typedef struct rg_spv_addition {
    struct rg_spv_place *place;
    uint32_t old;
} rg_spv_addition;
bool rg_spv_addto_plain(const rg_spv_fn *c, rg_iid i);
rg_spv_addition rg_spv_addto_begin(rg_spv_fn *c, rg_iid i);
void rg_spv_addto_end(rg_spv_fn *c, rg_iid i, const rg_spv_addition *half);
void rg_spv_rmw(rg_spv_fn *c, rg_iid i);
void rg_spv_alloc(rg_spv_fn *c, rg_iid i);
void rg_spv_copy(rg_spv_fn *c, rg_iid i);
uint32_t rg_spv_extent(rg_spv_fn *c, rg_aid a, uint32_t axis); /* index type */
uint32_t rg_spv_slot_load(rg_spv_fn *c, uint32_t slot, rg_type t);
void rg_spv_slot_store(rg_spv_fn *c, uint32_t slot, rg_type t, uint32_t v);
void rg_spv_slot_combine(rg_spv_fn *c, uint32_t slot, rg_red kind, rg_type t, uint32_t v,
                         rg_loc loc);

/* element.c: types of elements in buffers (address mode) */
uint32_t rg_spv_element(rg_spv *s, const rg_elem *e);
uint32_t rg_spv_element_pointer(rg_spv *s, uint32_t type, uint32_t stride);
bool rg_spv_element_plain(const rg_spv *s, const rg_elem *e);

/* maths.c */
struct rg_spv_maths *rg_spv_maths_new(rg_spv *s);
uint32_t rg_spv_maths_call(rg_spv_fn *c, rg_op op, rg_type t, const uint32_t *x);
void rg_spv_maths_finish(struct rg_spv_maths *m);

#endif
