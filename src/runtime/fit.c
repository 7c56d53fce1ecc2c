/* Which adjoint a launch runs: one that saves every step of its loops, if that fits the tape
 * memory; else one whose long loops run in blocks, in blocks of blocks, and so on.
 *
 * What a program saves is in the extents of its save arrays, which follow from the launch's
 * parameters as a rule; those that do not (loops of data-dependent length) are not counted here.
 * What `while` loops save, the cpu device watches as it grows. */
#include "runtime/launch.h"

#include "ad/ad.h"

#include <inttypes.h>

enum { MAX_LEVELS = 3 };

typedef struct saved {
    uint64_t bytes;
    rg_loc loc; /* where the loop stands */
} saved;

static uint64_t times(uint64_t a, uint64_t b) {
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t plus(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* How many are alive at one time: one, or in a parallel loop one for each of the threads. */
static uint64_t lanes(const rg_program *p, rg_iid alloc) {
    const rg_fn *f = p->fn;
    uint64_t most = p->kernel->module->dev->lanes;
    most = most ? most : 1;
    for (rg_iid i = alloc; i; i = rg_region_at(f, rg_ins_at(f, i)->parent)->owner) {
        int64_t lo, hi;
        if (rg_ins_at(f, i)->op != RG_PARALLEL)
            continue;
        if (rg_ins_at(f, i)->imm.i == 1 && rg_program_value(p, rg_operand(f, i, 0), false, &lo) &&
            rg_program_value(p, rg_operand(f, i, 1), true, &hi)) {
            uint64_t n = hi > lo ? (uint64_t)hi - (uint64_t)lo : 0;
            return n < most ? n : most;
        }
        return most;
    }
    return 1;
}

static uint64_t bytes(const rg_program *p, rg_iid alloc) {
    const rg_fn *f = p->fn;
    const rg_ins *ins = rg_ins_at(f, alloc);
    uint64_t n = rg_array_at(f, ins->array)->elem->size;
    for (uint32_t k = 0; k < ins->nopnd; k++) {
        int64_t first, last;
        bool known = rg_program_value(p, rg_operand(f, alloc, k), false, &first) &&
                     rg_program_value(p, rg_operand(f, alloc, k), true, &last);
        if (!known)
            return 0;
        last = last > first ? last : first;
        n = times(n, last > 0 ? (uint64_t)last : 0);
    }
    return times(n, lanes(p, alloc));
}

static uint64_t count(const rg_program *p) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < p->nsaves; k++)
        all = plus(all, bytes(p, p->saves[k]));
    return all;
}

/* The loop that saves the most. */
static saved worst(const rg_program *p) {
    saved s = {0, 0};
    for (uint32_t k = 0; k < p->nsaves; k++) {
        uint64_t together = 0;
        rg_loc loc = rg_ins_at(p->fn, p->saves[k])->loc;
        for (uint32_t q = 0; q < p->nsaves; q++)
            if (rg_ins_at(p->fn, p->saves[q])->loc == loc)
                together = plus(together, bytes(p, p->saves[q]));
        if (together > s.bytes)
            s = (saved){together, loc};
    }
    return s;
}

static rg_status too_much(rg_kernel *k, saved loop, uint64_t least) {
    rg_module *m = k->module;
    rg_arena *a = rg_arena_new(&m->ctx->allocator);
    int thrown = a ? RG_GUARD(a) : RG_THROW_MEMORY;
    rg_status s = RG_ERROR_MEMORY;
    if (thrown)
        s = rg_fail_memory(m->ctx);
    else
        rg_fail(m->ctx, s,
                "%s: the adjoint of kernel '%s' would save %" PRIu64 " bytes for the steps of this "
                "loop, and %" PRIu64
                " in all where its loops run in blocks, but the tape memory is "
                "%" PRIu64 " bytes: allow more (tape_memory, --tape-memory), or launch the loop in "
                "parts",
                rg_sources_where(m->unit->sources, a, loop.loc), k->fn->name, loop.bytes, least,
                m->tape_memory);
    rg_arena_free(a);
    return s;
}

rg_status rg_fit(rg_kernel *k, rg_mode mode, const uint8_t *wanted, rg_program **out) {
    rg_program *p;
    rg_status s = rg_program_get_as(k, mode, k->active, wanted, NULL, &p);
    *out = p;
    if (s != RG_OK || !p->nsaves)
        return s;
    uint64_t budget = k->module->tape_memory, least = count(p);
    if (least <= budget)
        return RG_OK;
    saved loop = worst(p);
    rg_loc at[32];
    rg_ad_blocks blocks = {.at = at};
    for (uint32_t i = 0; i < p->nsaves && blocks.n < 32; i++)
        at[blocks.n++] = rg_ins_at(p->fn, p->saves[i])->loc;
    while (blocks.levels < MAX_LEVELS) {
        blocks.levels++;
        s = rg_program_get_as(k, mode, k->active, wanted, &blocks, &p);
        *out = p;
        if (s != RG_OK)
            return s;
        uint64_t now = count(p);
        if (now <= budget)
            return RG_OK;
        least = now < least ? now : least;
    }
    return too_much(k, loop, least);
}
