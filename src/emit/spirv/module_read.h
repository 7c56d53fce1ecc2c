/* Reader of SPIR-V from anyone: tables of instructions, functions, blocks, definitions and uses
 * over the words, which stay where they are.
 *
 * Nothing in a file is trusted: every length, id and nesting is checked before it is used, so that
 * bytes which are no SPIR-V give a reason, never a crash. Instructions of later versions are
 * carried along; all that is assumed of them is that their words may be ids. */
#ifndef RG_EMIT_SPIRV_MODULE_READ_H
#define RG_EMIT_SPIRV_MODULE_READ_H

#include "base/arena.h"

enum { RG_CODE_NONE = UINT32_MAX };

/* Decorations of an id that matter here; NON_SEMANTIC marks an instruction set of debug
 * information. */
enum {
    RG_CODE_RESTRICT = 1,
    RG_CODE_BUFFER_BLOCK = 2,
    RG_CODE_STRIDE = 4,
    RG_CODE_NON_SEMANTIC = 8
};

typedef struct rg_code_inst {
    uint32_t at;           /* first word */
    uint16_t op, len;      /* opcode; words, the first included */
    uint32_t type, result; /* ids; 0: has none */
} rg_code_inst;

typedef struct rg_code_block {
    uint32_t label, last; /* instructions: OpLabel and the terminator */
    uint32_t function;
    uint32_t merge, cont;        /* blocks named by a merge instruction; RG_CODE_NONE */
    bool loop;                   /* ... which is OpLoopMerge */
    uint32_t first_succ, n_succ; /* in succs */
    uint32_t first_pred, n_pred; /* in preds */
} rg_code_block;

typedef struct rg_code_function {
    uint32_t first, last;           /* instructions: OpFunction and OpFunctionEnd */
    uint32_t first_block, n_blocks; /* 0 blocks: a declaration */
} rg_code_function;

typedef struct rg_code {
    rg_arena *arena;
    const uint32_t *words;
    uint32_t n_words, version, bound;
    bool swapped; /* the file has the other byte order */
    rg_code_inst *insts;
    uint32_t n_insts;
    uint32_t types_at, functions_at; /* first instruction after the annotations; first OpFunction */
    uint32_t *def;                   /* [bound] instruction that defines an id, RG_CODE_NONE */
    uint32_t *block_of;              /* [n_insts], RG_CODE_NONE outside of blocks */
    uint32_t *line_of;               /* [n_insts] OpLine or DebugLine in force, RG_CODE_NONE */
    uint32_t *uses_at, *uses;        /* uses of id x: uses[uses_at[x] .. uses_at[x + 1]) */
    uint32_t *name_of;               /* [bound] OpName, RG_CODE_NONE */
    uint8_t *marks;                  /* [bound] RG_CODE_RESTRICT ... */
    rg_code_block *blocks;
    uint32_t n_blocks;
    uint32_t *succs, *preds;
    rg_code_function *functions;
    uint32_t n_functions;
} rg_code;

/* NULL with *why (static text or arena memory) when the bytes are not a SPIR-V module. */
rg_code *rg_code_read(rg_arena *a, const void *bytes, size_t size, const char **why);

/* Word k of an instruction; 0 beyond its end. */
uint32_t rg_code_word(const rg_code *m, uint32_t inst, uint32_t k);
/* Defining instruction of an id; NULL when it has none. */
const rg_code_inst *rg_code_def(const rg_code *m, uint32_t id);
uint32_t rg_code_def_op(const rg_code *m, uint32_t id);  /* 0: none */
uint32_t rg_code_type_of(const rg_code *m, uint32_t id); /* result type id, 0 */
/* Storage class and pointee of a pointer type; false for other types. */
bool rg_code_pointer(const rg_code *m, uint32_t type, uint32_t *storage, uint32_t *pointee);
/* Value of a 32-bit integer constant. */
bool rg_code_constant(const rg_code *m, uint32_t id, uint32_t *value);
/* Word numbers [*first, *end) of an instruction hold ids, except as rg_code_is_id says. */
bool rg_code_is_id(const rg_code *m, uint32_t inst, uint32_t k);
/* An instruction of a debug set, which runs nothing. */
bool rg_code_is_debug(const rg_code *m, uint32_t inst);
/* Literal string that starts at word k, as a copy in the arena; "" when it is not terminated. */
const char *rg_code_string(const rg_code *m, uint32_t inst, uint32_t k);
/* OpName of id, or "%<id>". */
const char *rg_code_name(const rg_code *m, uint32_t id);

#endif
