/* The host's part of a program of tasks: it walks the kernel-level control flow, evaluates what it
 * can, and calls a device for the rest. Target-neutral: every device with memory of its own uses
 * it.
 *
 * A kernel-level value is the host's, in `vals`, or the device's, in a slot. What flows between the
 * two kinds is moved where control flow moves it: an initial value that the host knows is written
 * into the slot of the argument that carries it; a slot is read back only where a condition, a trip
 * count, a range, an extent or an index of a copy asks for it, and once. */
#ifndef RG_RUNTIME_WALK_H
#define RG_RUNTIME_WALK_H

#include "retrograd.h"

#include "emit/tasks.h"
#include "ir/eval.h"

/* What the device does; everything in order, nothing has to be finished on return but read_slot. */
typedef struct rg_walk_ops {
    /* Runs task number t on so many iterations (the product of its ranges; a stretch: 1), with the
     * capacities in rg_walk.scratch[t]. */
    rg_status (*dispatch)(void *user, uint32_t t, uint64_t iterations);
    /* Memory for a local array: `bytes`; its first `keep` bytes stay; the rest is zero or not. */
    rg_status (*alloc)(void *user, rg_aid array, uint64_t bytes, uint64_t keep, bool zero);
    /* Bytes from one array to another, at byte offsets; the ranges may overlap. */
    rg_status (*copy)(void *user, rg_aid to, uint64_t to_at, rg_aid from, uint64_t from_at,
                      uint64_t bytes);
    rg_status (*read_slot)(void *user, uint32_t slot, uint64_t *bits);
    rg_status (*write_slot)(void *user, uint32_t slot, uint64_t bits);
    rg_status (*copy_slot)(void *user, uint32_t to, uint32_t from);
    /* A task that may ask for more room than it got (`need`): keeps the arrays that it writes and
     * all slots; brings them back before the task runs again; lets go of them. */
    rg_status (*save)(void *user, uint32_t t);
    rg_status (*restore)(void *user, uint32_t t);
    void (*drop)(void *user, uint32_t t);
    /* Says what is wrong with the launch; returns s. */
    rg_status (*fail)(void *user, rg_status s, rg_loc loc, const char *words);
} rg_walk_ops;

typedef struct rg_walk {
    const rg_fn *f;
    const rg_task_plan *plan;
    const rg_walk_ops *ops;
    void *user;
    rg_const *vals;     /* [vals.n] host values; of a slot's value: what was read back */
    bool *known;        /* [vals.n] a slot's value stands in vals */
    int64_t **extents;  /* [arrays.n][rank]; of an array that grows: its room */
    uint64_t **scratch; /* [tasks.n][scratch.n] capacity in elements, kept between launches */
    uint64_t *capacity; /* [arrays.n] bytes of a local array that grows */
    const void *const *scalars; /* [params.n] bytes of by-value parameters, for this launch */
    rg_const *moved;            /* room for the values of one move */
    bool *by_slot;
    uint32_t nslots; /* slots, with those that moves pass through */
} rg_walk;

/* In arena a. */
rg_walk *rg_walk_new(rg_arena *a, const rg_fn *f, const rg_task_plan *plan, const rg_walk_ops *ops,
                     void *user);
/* One launch. The extents of parameters and scalars must be set. */
rg_status rg_walk_run(rg_walk *w);

/* For dispatch: a kernel-level value that the host knows, or that it reads back now. */
rg_status rg_walk_value(rg_walk *w, rg_val v, rg_const *out);
/* Value as an argument block or a slot holds it (tasks.h), and back. */
uint64_t rg_walk_bits(rg_type t, rg_const c);
rg_const rg_walk_from_bits(rg_type t, uint64_t bits);
/* Elements of an array of that many axes; false when no object is that large. */
bool rg_walk_count(const rg_walk *w, rg_aid a, uint64_t *out);

#endif
