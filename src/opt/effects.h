/* What memory each structured instruction touches. */
#ifndef RG_OPT_EFFECTS_H
#define RG_OPT_EFFECTS_H

#include "opt/rewrite.h"

/* A key is one leaf of one array, or of the arrays that may share its memory. */
typedef struct rg_effects {
    uint32_t *key_base; /* by array: key of its leaf 0 */
    uint32_t keys;      /* how many there are; numbered from 0 */
    rg_ids *touched;    /* by instruction with regions: 2 * key + (1 when written), each once */
} rg_effects;

rg_effects rg_opt_effects(const rg_fn *f, rg_arena *scratch);
/* Keys only: touched stays NULL. */
rg_effects rg_opt_keys(const rg_fn *f, rg_arena *scratch);

static inline uint32_t rg_effects_key(const rg_effects *e, const rg_ins *ins) {
    return e->key_base[ins->array] + ins->leaf;
}

#endif
