/* One pass over the instructions, each copied, changed or followed by others. Numbers of opcodes
 * and storage classes are the specification's. */
#include "spirv_faults.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    OP_LINE = 8,
    OP_EXT_INST = 12,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT = 43,
    OP_LOAD = 61,
    OP_STORE = 62,
    OP_COPY_MEMORY = 63,
    OP_ACCESS_CHAIN = 65,
    OP_PTR_ACCESS_CHAIN = 67,
    OP_COPY_OBJECT = 83,
    OP_FMUL = 133,
    OP_IS_NAN = 156,
    OP_FORD_NOT_EQUAL = 182,
    OP_FUNORD_NOT_EQUAL = 183,
    OP_ATOMIC_LOAD = 227,
    OP_ATOMIC_EXCHANGE = 229,
    OP_ATOMIC_COMPARE_EXCHANGE = 230,
    OP_ATOMIC_IADD = 234,
    OP_ATOMIC_XOR = 242,
    OP_LABEL = 248,
    OP_ATOMIC_FADD = 6035,
    STORAGE_BUFFER = 12,
    PHYSICAL = 5349,
    MOST_LOADS = 4096
};

typedef struct late { /* a load that is done again */
    uint32_t copy[8], copy_words;
    uint32_t load[8], load_words;
    uint32_t latest; /* id of its value now */
} late;

typedef struct rewriter {
    const uint32_t *in;
    size_t n;
    uint32_t *out;
    size_t nout, cap;
    uint32_t bound, *type, *to, *class, *pointee, *constant, *zero, *first_pointer, *first_type;
    late loads[MOST_LOADS];
    uint32_t nloads, changes;
    bool failed;
} rewriter;

static void put(rewriter *r, const uint32_t *w, size_t n) {
    if (r->nout + n > r->cap) {
        size_t cap = 2 * (r->nout + n);
        uint32_t *more = realloc(r->out, cap * sizeof *more);
        if (!more) {
            r->failed = true;
            return;
        }
        r->out = more;
        r->cap = cap;
    }
    memcpy(r->out + r->nout, w, n * sizeof *w);
    r->nout += n;
}

/* Types of the ids that may be pointers, classes of pointer types, values of constants. */
static void learn(rewriter *r) {
    for (size_t at = 5; at < r->n; at += r->in[at] >> 16) {
        const uint32_t *w = r->in + at;
        uint32_t op = w[0] & 0xffff;
        if (op == OP_TYPE_POINTER) {
            r->class[w[1]] = w[2];
            r->pointee[w[1]] = w[3];
        } else if (op == OP_CONSTANT) {
            r->constant[w[2]] = w[3];
            r->zero[w[2]] = w[3] == 0 && (w[0] >> 16 == 4 || w[4] == 0);
        } else if (op == OP_LOAD || op == OP_ACCESS_CHAIN || op == OP_PTR_ACCESS_CHAIN ||
                   op == 59 || op == 66 || op == 70 || op == 120 || op == 124 || op == 169 ||
                   op == 245) {
            r->type[w[2]] = w[1];
        }
    }
}

static bool is_physical(const rewriter *r, uint32_t id) {
    return id < r->bound && r->class[r->type[id]] == PHYSICAL;
}

static uint32_t new_id(rewriter *r) {
    return r->out[3]++;
}

/* The instruction with the values of late loads in place of the early ones. */
static void put_renamed(rewriter *r, const uint32_t *w) {
    uint32_t n = w[0] >> 16, op = w[0] & 0xffff, copy[256];
    if (op == OP_LINE || n > 256) {
        put(r, w, n);
        return;
    }
    memcpy(copy, w, n * sizeof *w);
    for (uint32_t k = 1; k < n; k++) {
        if (op == OP_EXT_INST && k == 4)
            continue;
        for (uint32_t l = 0; l < r->nloads; l++)
            if (r->loads[l].load_words && w[k] == r->loads[l].load[2])
                copy[k] = r->loads[l].latest;
    }
    put(r, copy, n);
}

static void late_loads(rewriter *r, const uint32_t *w) {
    uint32_t n = w[0] >> 16, op = w[0] & 0xffff;
    if (op == OP_LABEL)
        r->nloads = 0;
    if (op == OP_COPY_MEMORY && is_physical(r, w[2]) && !is_physical(r, w[1]) && n <= 8 &&
        r->nloads < MOST_LOADS) {
        late *l = &r->loads[r->nloads++];
        memset(l, 0, sizeof *l);
        memcpy(l->copy, w, n * sizeof *w);
        l->copy_words = n;
    }
    if (op == OP_LOAD && n <= 8) {
        for (uint32_t k = r->nloads; k-- > 0;) {
            late *l = &r->loads[k];
            if (l->copy[1] != w[3] || l->load_words)
                continue;
            memcpy(l->load, w, n * sizeof *w);
            l->load_words = n;
            l->latest = w[2];
            break;
        }
        if (is_physical(r, w[3]) && r->nloads < MOST_LOADS) { /* a plain load */
            late *l = &r->loads[r->nloads++];
            memset(l, 0, sizeof *l);
            memcpy(l->load, w, n * sizeof *w);
            l->load_words = n;
            l->latest = w[2];
        }
    }
    put_renamed(r, w);
    bool stores = (op == OP_STORE && is_physical(r, w[1])) ||
                  (op == OP_COPY_MEMORY && is_physical(r, w[1])) ||
                  (op >= OP_ATOMIC_EXCHANGE && op <= OP_ATOMIC_XOR) || op == OP_ATOMIC_FADD;
    for (uint32_t k = 0; stores && k < r->nloads; k++) {
        late *l = &r->loads[k];
        if (!l->load_words)
            continue;
        uint32_t again[8];
        if (l->copy_words)
            put(r, l->copy, l->copy_words);
        memcpy(again, l->load, sizeof again);
        again[2] = l->latest = new_id(r);
        put(r, again, l->load_words);
        r->changes++;
    }
}

static void second_address(rewriter *r, const uint32_t *w) {
    uint32_t n = w[0] >> 16, op = w[0] & 0xffff, copy[8];
    if (op == OP_ACCESS_CHAIN && n == 5 && r->class[w[1]] == STORAGE_BUFFER &&
        r->class[r->pointee[w[1]]] == PHYSICAL) {
        uint32_t *first = &r->first_pointer[w[3]]; /* of this argument block */
        if (!*first) {
            *first = w[4];
            r->first_type[w[3]] = w[1];
        } else if (w[1] == r->first_type[w[3]] && r->constant[*first] != r->constant[w[4]] &&
                   r->to[w[3]] == 0) {
            r->to[w[3]] = w[4];
        }
        if (r->to[w[3]] == w[4]) {
            memcpy(copy, w, n * sizeof *w);
            copy[4] = *first;
            put(r, copy, n);
            r->changes++;
            return;
        }
    }
    put(r, w, n);
}

static void atomics(rewriter *r, const uint32_t *w, bool all) {
    uint32_t n = w[0] >> 16, op = w[0] & 0xffff, copy[16];
    bool integer = all && op >= OP_ATOMIC_IADD && op <= OP_ATOMIC_XOR;
    if (op == OP_ATOMIC_FADD || integer) {
        memcpy(copy, w, n * sizeof *w);
        copy[0] = n << 16 | OP_ATOMIC_EXCHANGE;
        put(r, copy, n);
        r->changes++;
    } else if (all && op == OP_ATOMIC_COMPARE_EXCHANGE) {
        uint32_t load[6] = {6u << 16 | OP_ATOMIC_LOAD, w[1], w[2], w[3], w[4], w[5]};
        put(r, load, 6);
        r->changes++;
    } else {
        put(r, w, n);
    }
}

static void no_nans(rewriter *r, const uint32_t *w) {
    uint32_t n = w[0] >> 16, op = w[0] & 0xffff;
    if (op == OP_IS_NAN) {
        uint32_t never[5] = {5u << 16 | OP_FORD_NOT_EQUAL, w[1], w[2], w[3], w[3]};
        put(r, never, 5);
        r->changes++;
    } else if (op == OP_FUNORD_NOT_EQUAL) {
        uint32_t never[5] = {5u << 16 | OP_FORD_NOT_EQUAL, w[1], w[2], w[3], w[4]};
        put(r, never, 5);
        r->changes++;
    } else {
        put(r, w, n);
    }
}

static void literals(rewriter *r, const uint32_t *w) {
    uint32_t n = w[0] >> 16, op = w[0] & 0xffff;
    if (op == OP_FMUL && (r->zero[w[3]] || r->zero[w[4]])) {
        uint32_t copy[4] = {4u << 16 | OP_COPY_OBJECT, w[1], w[2], r->zero[w[3]] ? w[3] : w[4]};
        put(r, copy, 4);
        r->changes++;
    } else {
        put(r, w, n);
    }
}

uint32_t *rg_spirv_break(const uint32_t *words, size_t count, rg_broken_as fault, size_t *out_count,
                         uint32_t *changes) {
    rewriter *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (rewriter){.in = words, .n = count, .bound = words[3]};
    uint32_t **tables[] = {&r->type,     &r->to,   &r->class,         &r->pointee,
                           &r->constant, &r->zero, &r->first_pointer, &r->first_type};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        *tables[k] = calloc(r->bound + 1, sizeof(uint32_t));
        r->failed |= !*tables[k];
    }
    if (!r->failed) {
        learn(r);
        put(r, words, 5);
    }
    for (size_t at = 5; at < count && !r->failed; at += words[at] >> 16) {
        const uint32_t *w = words + at;
        if (fault == RG_FAULT_LATE_LOADS)
            late_loads(r, w);
        else if (fault == RG_FAULT_SECOND_ADDRESS)
            second_address(r, w);
        else if (fault == RG_FAULT_ATOMIC_FLOAT || fault == RG_FAULT_ATOMICS)
            atomics(r, w, fault == RG_FAULT_ATOMICS);
        else if (fault == RG_FAULT_NO_NANS)
            no_nans(r, w);
        else if (fault == RG_FAULT_LITERALS)
            literals(r, w);
        else
            put(r, w, w[0] >> 16);
    }
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        free(*tables[k]);
    uint32_t *out = r->failed ? NULL : r->out;
    if (r->failed)
        free(r->out);
    *out_count = r->nout;
    *changes += r->changes;
    free(r);
    return out;
}
