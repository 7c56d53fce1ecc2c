/* Dominators by Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001): immediate
 * dominators are intersected in reverse postorder until nothing changes. */
#include "emit/spirv/repair_flow.h"

typedef struct walk {
    const rg_code *m;
    uint32_t *order;  /* [n] blocks in postorder */
    uint32_t *number; /* [blocks] place in order plus 1; 0: not seen */
    uint32_t *stack, *edge;
    uint32_t n;
} walk;

static void postorder(walk *w, uint32_t entry) {
    uint32_t depth = 0;
    w->n = 0;
    w->stack[depth] = entry;
    w->edge[depth++] = 0;
    w->number[entry] = RG_CODE_NONE;
    while (depth) {
        const rg_code_block *b = &w->m->blocks[w->stack[depth - 1]];
        if (w->edge[depth - 1] < b->n_succ) {
            uint32_t to = w->m->succs[b->first_succ + w->edge[depth - 1]++];
            if (!w->number[to]) {
                w->number[to] = RG_CODE_NONE;
                w->stack[depth] = to;
                w->edge[depth++] = 0;
            }
        } else {
            uint32_t done = w->stack[--depth];
            w->order[w->n++] = done;
            w->number[done] = w->n;
        }
    }
}

static uint32_t meet(const rg_flow *f, const walk *w, uint32_t a, uint32_t b) {
    while (a != b) {
        while (w->number[a] < w->number[b])
            a = f->idom[a];
        while (w->number[b] < w->number[a])
            b = f->idom[b];
    }
    return a;
}

static void dominators(rg_flow *f, walk *w, uint32_t entry) {
    f->idom[entry] = entry;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = w->n; k-- > 0;) {
            uint32_t b = w->order[k], best = RG_CODE_NONE;
            if (b == entry)
                continue;
            const rg_code_block *block = &w->m->blocks[b];
            for (uint32_t p = 0; p < block->n_pred; p++) {
                uint32_t from = w->m->preds[block->first_pred + p];
                if (w->number[from] && f->idom[from] != RG_CODE_NONE)
                    best = best == RG_CODE_NONE ? from : meet(f, w, best, from);
            }
            if (f->idom[b] != best) {
                f->idom[b] = best;
                changed = true;
            }
        }
    }
}

/* Numbers the tree: children are listed by (first child, next sibling) in scratch. */
static void number_tree(rg_flow *f, const walk *w, uint32_t entry, uint32_t *child,
                        uint32_t *sibling, uint32_t *clock) {
    for (uint32_t k = 0; k < w->n; k++)
        child[w->order[k]] = RG_CODE_NONE;
    for (uint32_t k = 0; k < w->n; k++) {
        uint32_t b = w->order[k];
        if (b == entry)
            continue;
        sibling[b] = child[f->idom[b]];
        child[f->idom[b]] = b;
    }
    uint32_t depth = 0;
    w->stack[depth++] = entry;
    f->enter[entry] = ++*clock;
    while (depth) {
        uint32_t b = w->stack[depth - 1], c = child[b];
        if (c == RG_CODE_NONE) {
            f->leave[b] = ++*clock;
            depth--;
        } else {
            child[b] = sibling[c];
            f->enter[c] = ++*clock;
            w->stack[depth++] = c;
        }
    }
    f->idom[entry] = RG_CODE_NONE;
}

static void loops(rg_flow *f, const walk *w) {
    const rg_code_block *blocks = w->m->blocks;
    for (uint32_t k = w->n; k-- > 0;) {
        uint32_t b = w->order[k], in = RG_CODE_NONE;
        if (f->idom[b] != RG_CODE_NONE) {
            uint32_t above = f->idom[b];
            in = blocks[above].loop ? above : f->loop[above];
        }
        while (in != RG_CODE_NONE && rg_flow_dominates(f, blocks[in].merge, b))
            in = f->loop[in];
        f->loop[b] = in;
    }
}

rg_flow *rg_flow_new(rg_arena *a, const rg_code *m) {
    rg_flow *f = RG_NEW(a, rg_flow);
    uint32_t n = m->n_blocks + 1;
    f->code = m;
    f->idom = RG_NEW_N(a, uint32_t, n);
    f->enter = RG_NEW_N(a, uint32_t, n);
    f->leave = RG_NEW_N(a, uint32_t, n);
    f->loop = RG_NEW_N(a, uint32_t, n);
    for (uint32_t b = 0; b < n; b++)
        f->idom[b] = f->loop[b] = RG_CODE_NONE;
    walk w = {.m = m,
              .order = RG_NEW_N(a, uint32_t, n),
              .number = RG_NEW_N(a, uint32_t, n),
              .stack = RG_NEW_N(a, uint32_t, n),
              .edge = RG_NEW_N(a, uint32_t, n)};
    uint32_t *child = RG_NEW_N(a, uint32_t, n), *sibling = RG_NEW_N(a, uint32_t, n), clock = 0;
    for (uint32_t k = 0; k < m->n_functions; k++) {
        if (m->functions[k].n_blocks == 0)
            continue;
        uint32_t entry = m->functions[k].first_block;
        postorder(&w, entry);
        dominators(f, &w, entry);
        number_tree(f, &w, entry, child, sibling, &clock);
        loops(f, &w);
    }
    return f;
}

bool rg_flow_reachable(const rg_flow *f, uint32_t block) {
    return f->enter[block] != 0;
}

bool rg_flow_dominates(const rg_flow *f, uint32_t above, uint32_t below) {
    return f->enter[above] && f->enter[above] <= f->enter[below] &&
           f->leave[below] <= f->leave[above];
}

bool rg_flow_enters_loop(const rg_flow *f, uint32_t def, uint32_t use) {
    /* A header's own instructions run once per iteration: it is inside its loop. */
    uint32_t in = f->code->blocks[use].loop ? use : f->loop[use];
    for (; in != RG_CODE_NONE; in = f->loop[in])
        if (in != def && rg_flow_dominates(f, def, in))
            return true;
    return false;
}
