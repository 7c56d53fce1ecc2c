/* The public face: reads, checks, rewrites until nothing is left to rewrite, and reports. A
 * rewriting may uncover what an earlier fault hid, hence the rounds; each needs fewer than the one
 * before, and a few are enough for any module. */
#include "emit/spirv/repair.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, MAX_IDS = 0x3fffff + 1 };

struct rg_spirv_report {
    rg_arena *arena;
    rg_spirv_finding *findings;
    size_t count;
    const char *message;
};

/* The size stands before the module: rg_spirv_free is not told it. */
typedef union gift {
    size_t size;
    max_align_t align;
} gift;

static void *resize_default(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size)
        return realloc(old, size);
    free(old);
    return NULL;
}

static bool allocator_of(const rg_spirv_repair_options *o, rg_allocator *out) {
    out->resize = resize_default;
    out->user = NULL;
    if (!o)
        return true;
    if (o->size != sizeof *o)
        return false;
    if (o->resize) {
        out->resize = o->resize;
        out->user = o->user;
    }
    return true;
}

static unsigned translators_of(const rg_spirv_repair_options *o) {
    unsigned t = o ? o->translators & RG_SPIRV_CROSS_ALL : 0;
    return t ? t : RG_SPIRV_CROSS_ALL;
}

const char *rg_spirv_fault_name(rg_spirv_fault f) {
    static const char *const names[] = {
        [RG_SPIRV_LOAD_LATE] = "load-late",
        [RG_SPIRV_CALL_LATE] = "call-late",
        [RG_SPIRV_INDEX_IN_CAST] = "index-in-cast",
        [RG_SPIRV_ATOMIC_POINTER] = "atomic-pointer",
        [RG_SPIRV_ATOMIC_REFUSED] = "atomic-refused",
        [RG_SPIRV_FLOAT_ATOMIC] = "float-atomic",
        [RG_SPIRV_SLOTS] = "slots",
        [RG_SPIRV_NOT_METAL] = "not-metal",
    };
    return (size_t)f < sizeof names / sizeof names[0] ? names[f] : "unknown";
}

static const char *opcode_name(rg_arena *a, uint32_t op) {
    static const struct {
        uint32_t op;
        const char *name;
    } names[] = {
        {SpvOpLoad, "OpLoad"},
        {SpvOpFunctionCall, "OpFunctionCall"},
        {SpvOpPtrAccessChain, "OpPtrAccessChain"},
        {SpvOpInBoundsPtrAccessChain, "OpInBoundsPtrAccessChain"},
        {SpvOpCapability, "OpCapability"},
        {SpvOpTypeFloat, "OpTypeFloat"},
        {SpvOpAtomicLoad, "OpAtomicLoad"},
        {SpvOpAtomicStore, "OpAtomicStore"},
        {SpvOpAtomicExchange, "OpAtomicExchange"},
        {SpvOpAtomicCompareExchange, "OpAtomicCompareExchange"},
        {SpvOpAtomicCompareExchangeWeak, "OpAtomicCompareExchangeWeak"},
        {SpvOpAtomicIIncrement, "OpAtomicIIncrement"},
        {SpvOpAtomicIDecrement, "OpAtomicIDecrement"},
        {SpvOpAtomicIAdd, "OpAtomicIAdd"},
        {SpvOpAtomicISub, "OpAtomicISub"},
        {SpvOpAtomicSMin, "OpAtomicSMin"},
        {SpvOpAtomicUMin, "OpAtomicUMin"},
        {SpvOpAtomicSMax, "OpAtomicSMax"},
        {SpvOpAtomicUMax, "OpAtomicUMax"},
        {SpvOpAtomicAnd, "OpAtomicAnd"},
        {SpvOpAtomicOr, "OpAtomicOr"},
        {SpvOpAtomicXor, "OpAtomicXor"},
        {SpvOpAtomicFMinEXT, "OpAtomicFMinEXT"},
        {SpvOpAtomicFMaxEXT, "OpAtomicFMaxEXT"},
        {SpvOpAtomicFAddEXT, "OpAtomicFAddEXT"},
    };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (names[k].op == op)
            return names[k].name;
    return rg_format(a, "Op%u", (unsigned)op);
}

static void place(const rg_code *m, uint32_t inst, rg_spirv_finding *out) {
    uint32_t line = m->line_of[inst];
    if (line == RG_CODE_NONE)
        return;
    uint32_t file, value;
    if (m->insts[line].op == SpvOpLine) {
        file = rg_code_word(m, line, 1);
        out->line = rg_code_word(m, line, 2);
        out->column = rg_code_word(m, line, 3);
    } else {
        /* DebugLine: DebugSource, line, line's end, column, all as constants. */
        uint32_t source = rg_code_word(m, line, 5);
        file = rg_code_def_op(m, source) == SpvOpExtInst ? rg_code_word(m, m->def[source], 5) : 0;
        if (rg_code_constant(m, rg_code_word(m, line, 6), &value))
            out->line = value;
        if (rg_code_constant(m, rg_code_word(m, line, 8), &value))
            out->column = value;
    }
    if (rg_code_def_op(m, file) == SpvOpString)
        out->file = rg_code_string(m, m->def[file], 2);
}

/* The findings go into an arena of the report's own: text is copied when it is in another. */
static void fill(rg_spirv_report *report, const rg_repair *r) {
    rg_arena *a = report->arena;
    const rg_code *m = r->code;
    report->findings = RG_NEW_N(a, rg_spirv_finding, r->findings.n + 1);
    report->count = r->findings.n;
    for (uint32_t k = 0; k < r->findings.n; k++) {
        const rg_repair_finding *from = &r->findings.at[k];
        rg_spirv_finding *f = &report->findings[k];
        *f = (rg_spirv_finding){.size = sizeof *f,
                                .fault = from->fault,
                                .translators = from->translators,
                                .fixable = from->fixable,
                                .id = from->id,
                                .function = rg_strdup(a, from->function),
                                .name = from->id ? rg_strdup(a, rg_code_name(m, from->id)) : "",
                                .opcode = "",
                                .text = rg_strdup(a, from->text)};
        if (from->inst != RG_CODE_NONE) {
            f->word = m->insts[from->inst].at;
            f->opcode = opcode_name(a, m->insts[from->inst].op);
            place(m, from->inst, f);
            if (f->file)
                f->file = rg_strdup(a, f->file);
        }
        if (from->clobber != RG_CODE_NONE)
            f->changed_word = m->insts[from->clobber].at;
        if (from->use != RG_CODE_NONE)
            f->used_word = m->insts[from->use].at;
    }
}

static rg_spirv_report *new_report(const rg_allocator *al) {
    rg_arena *a = rg_arena_new(al);
    if (!a)
        return NULL;
    if (RG_GUARD(a)) {
        rg_arena_free(a);
        return NULL;
    }
    rg_spirv_report *report = RG_NEW(a, rg_spirv_report);
    report->arena = a;
    report->message = "";
    return report;
}

/* What every call keeps between its guard and its end. */
typedef struct job {
    rg_allocator allocator;
    rg_arena *arena; /* of the round */
    const void *words;
    size_t size;
    void *owned; /* words of the last round, to be freed */
    size_t owned_size;
    rg_spirv_report *report;
    bool swapped;
} job;

static void end_round(job *j) {
    rg_arena_free(j->arena);
    j->arena = NULL;
}

static void *copy_out(job *j, const void *from, size_t size) {
    gift *g = j->allocator.resize(j->allocator.user, NULL, 0, sizeof *g + size);
    if (!g)
        return NULL;
    g->size = sizeof *g + size;
    return memcpy(g + 1, from, size);
}

static void release(job *j, void *p) {
    if (p) {
        gift *g = (gift *)p - 1;
        j->allocator.resize(j->allocator.user, g, g->size, 0);
    }
}

/* One reading, checking and, when wanted and needed, rewriting; *again says that it was needed. */
static rg_status one_round(job *j, unsigned translators, bool fix, bool *again) {
    *again = false;
    j->arena = rg_arena_new(&j->allocator);
    if (!j->arena)
        return RG_ERROR_MEMORY;
    if (RG_GUARD(j->arena))
        return RG_ERROR_MEMORY;
    if (RG_GUARD(j->report->arena))
        return RG_ERROR_MEMORY;
    const char *why;
    rg_code *m = rg_code_read(j->arena, j->words, j->size, &why);
    if (!m) {
        j->report->message = rg_strdup(j->report->arena, why);
        return RG_ERROR_SOURCE;
    }
    rg_repair *r = rg_repair_check(j->arena, m, translators);
    if (!fix || r->actions == 0) {
        fill(j->report, r);
        return RG_OK;
    }
    uint32_t n;
    uint32_t *words = rg_repair_rewrite(r, &n);
    if (words[3] > MAX_IDS) {
        j->report->message = "the module has no ids left for the repair";
        return RG_ERROR_REFUSED;
    }
    if (m->swapped)
        for (uint32_t k = 0; k < n; k++)
            words[k] = words[k] << 24 | (words[k] & 0xff00) << 8 | (words[k] >> 8 & 0xff00) |
                       words[k] >> 24;
    void *next = copy_out(j, words, (size_t)n * 4);
    if (!next)
        return RG_ERROR_MEMORY;
    release(j, j->owned);
    j->owned = next;
    j->words = next;
    j->size = (size_t)n * 4;
    *again = true;
    return RG_OK;
}

static rg_status start(job *j, const void *words, size_t size, const rg_spirv_repair_options *o) {
    if ((!words && size) || !allocator_of(o, &j->allocator))
        return RG_ERROR_ARGUMENT;
    j->words = words;
    j->size = size;
    j->report = new_report(&j->allocator);
    return j->report ? RG_OK : RG_ERROR_MEMORY;
}

rg_status rg_spirv_check(const void *words, size_t size, const rg_spirv_repair_options *o,
                         rg_spirv_report **report) {
    if (!report)
        return RG_ERROR_ARGUMENT;
    *report = NULL;
    job j = {0};
    rg_status s = start(&j, words, size, o);
    if (s != RG_OK)
        return s;
    bool again;
    s = one_round(&j, translators_of(o), false, &again);
    end_round(&j);
    if (s == RG_ERROR_MEMORY)
        rg_spirv_report_release(j.report);
    else
        *report = j.report;
    return s;
}

rg_status rg_spirv_fix(const void *words, size_t size, const rg_spirv_repair_options *o, void **out,
                       size_t *out_size, rg_spirv_report **report) {
    if (report)
        *report = NULL;
    if (!out || !out_size)
        return RG_ERROR_ARGUMENT;
    *out = NULL;
    *out_size = 0;
    job j = {0};
    rg_status s = start(&j, words, size, o);
    if (s != RG_OK)
        return s;
    bool again = true;
    for (int round = 0; s == RG_OK && again; round++) {
        s = one_round(&j, translators_of(o), round < ROUNDS, &again);
        end_round(&j);
    }
    if (s == RG_OK && !j.owned) {
        j.owned = copy_out(&j, words, size);
        s = j.owned ? RG_OK : RG_ERROR_MEMORY;
    }
    if (s == RG_OK) {
        *out = j.owned;
        *out_size = j.size;
    } else {
        release(&j, j.owned);
    }
    if (report && s != RG_ERROR_MEMORY)
        *report = j.report;
    else
        rg_spirv_report_release(j.report);
    return s;
}

void rg_spirv_free(const rg_spirv_repair_options *o, void *out) {
    job j = {0};
    if (allocator_of(o, &j.allocator))
        release(&j, out);
}

size_t rg_spirv_report_count(const rg_spirv_report *r) {
    return r ? r->count : 0;
}

rg_status rg_spirv_report_finding(const rg_spirv_report *r, size_t i, rg_spirv_finding *out) {
    if (!r || !out || i >= r->count || out->size != sizeof *out)
        return RG_ERROR_ARGUMENT;
    *out = r->findings[i];
    return RG_OK;
}

const char *rg_spirv_report_message(const rg_spirv_report *r) {
    return r ? r->message : "";
}

void rg_spirv_report_release(rg_spirv_report *r) {
    if (r)
        rg_arena_free(r->arena);
}
