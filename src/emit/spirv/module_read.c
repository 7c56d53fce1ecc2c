/* One pass over the words checks lengths and finds instructions; a second builds the tables. What
 * a later step may rely on is checked here: ids below the bound and defined once, functions and
 * blocks well nested, every block ended, branches to blocks of the same function. */
#define SPV_ENABLE_UTILITY_CODE
#include "emit/spirv/module_read.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

/* The header defines it inline only; this makes it a function for compilers that do not inline it.
 */
extern void SpvHasResultAndType(SpvOp opcode, bool *has_result, bool *has_type);

enum { HEADER_WORDS = 5, MAX_BOUND = 0x3fffff };

uint32_t rg_code_word(const rg_code *m, uint32_t inst, uint32_t k) {
    return k < m->insts[inst].len ? m->words[m->insts[inst].at + k] : 0;
}

const rg_code_inst *rg_code_def(const rg_code *m, uint32_t id) {
    return id < m->bound && m->def[id] != RG_CODE_NONE ? &m->insts[m->def[id]] : NULL;
}

uint32_t rg_code_def_op(const rg_code *m, uint32_t id) {
    const rg_code_inst *d = rg_code_def(m, id);
    return d ? d->op : 0;
}

uint32_t rg_code_type_of(const rg_code *m, uint32_t id) {
    const rg_code_inst *d = rg_code_def(m, id);
    return d ? d->type : 0;
}

bool rg_code_pointer(const rg_code *m, uint32_t type, uint32_t *storage, uint32_t *pointee) {
    if (rg_code_def_op(m, type) != SpvOpTypePointer)
        return false;
    *storage = rg_code_word(m, m->def[type], 2);
    *pointee = rg_code_word(m, m->def[type], 3);
    return true;
}

bool rg_code_constant(const rg_code *m, uint32_t id, uint32_t *value) {
    const rg_code_inst *d = rg_code_def(m, id);
    if (!d || rg_code_def_op(m, d->type) != SpvOpTypeInt ||
        rg_code_word(m, m->def[d->type], 2) > 32)
        return false;
    if (d->op == SpvOpConstantNull)
        *value = 0;
    else if (d->op == SpvOpConstant)
        *value = rg_code_word(m, m->def[id], 3);
    else
        return false;
    return true;
}

/* Words of the memory operands at k that are ids: scopes of MakePointerAvailable and -Visible. */
static bool memory_operand_is_id(const rg_code *m, uint32_t inst, uint32_t start, uint32_t k) {
    while (start <= k && start < m->insts[inst].len) {
        uint32_t mask = rg_code_word(m, inst, start), at = start + 1;
        if (mask & SpvMemoryAccessAlignedMask)
            at++;
        uint32_t ids = (mask & SpvMemoryAccessMakePointerAvailableMask ? 1u : 0u) +
                       (mask & SpvMemoryAccessMakePointerVisibleMask ? 1u : 0u);
        if (k >= at && k < at + ids)
            return true;
        start = at + ids;
    }
    return false;
}

bool rg_code_is_id(const rg_code *m, uint32_t inst, uint32_t k) {
    const rg_code_inst *i = &m->insts[inst];
    uint32_t first = 1u + (i->type ? 1u : 0u) + (i->result ? 1u : 0u);
    if (k < first || k >= i->len)
        return false;
    switch (i->op) {
    case SpvOpLine:
        return k == 1;
    case SpvOpNoLine:
    case SpvOpLabel:
    case SpvOpVariable:
        return i->op == SpvOpVariable && k > 3;
    case SpvOpLoad:
        return k == 3 || memory_operand_is_id(m, inst, 4, k);
    case SpvOpStore:
    case SpvOpCopyMemory:
        return k <= 2 || memory_operand_is_id(m, inst, 3, k);
    case SpvOpCopyMemorySized:
        return k <= 3 || memory_operand_is_id(m, inst, 4, k);
    case SpvOpCompositeExtract:
    case SpvOpArrayLength:
        return k == 3;
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
        return k <= 4;
    case SpvOpExtInst:
        return k == 3 || k > 4;
    case SpvOpSelectionMerge:
        return k == 1;
    case SpvOpLoopMerge:
        return k <= 2;
    case SpvOpBranchConditional:
        return k <= 3;
    case SpvOpSwitch: {
        /* Selector, default, then (literal, label): the literal is as wide as the selector. */
        uint32_t type = rg_code_type_of(m, rg_code_word(m, inst, 1));
        uint32_t wide =
            rg_code_def_op(m, type) == SpvOpTypeInt && rg_code_word(m, m->def[type], 2) > 32 ? 2
                                                                                             : 1;
        return k <= 2 || (k - 3) % (wide + 1) == wide;
    }
    case SpvOpFunction:
        return k == 4;
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleExplicitLod:
    case SpvOpImageSampleProjImplicitLod:
    case SpvOpImageSampleProjExplicitLod:
    case SpvOpImageFetch:
    case SpvOpImageRead:
    case SpvOpImageSparseRead:
        return k != 5;
    case SpvOpImageSampleDrefImplicitLod:
    case SpvOpImageSampleDrefExplicitLod:
    case SpvOpImageSampleProjDrefImplicitLod:
    case SpvOpImageSampleProjDrefExplicitLod:
    case SpvOpImageGather:
    case SpvOpImageDrefGather:
        return k != 6;
    case SpvOpImageWrite:
        return k != 4;
    case SpvOpGroupNonUniformIAdd:
    case SpvOpGroupNonUniformFAdd:
    case SpvOpGroupNonUniformIMul:
    case SpvOpGroupNonUniformFMul:
    case SpvOpGroupNonUniformSMin:
    case SpvOpGroupNonUniformUMin:
    case SpvOpGroupNonUniformFMin:
    case SpvOpGroupNonUniformSMax:
    case SpvOpGroupNonUniformUMax:
    case SpvOpGroupNonUniformFMax:
    case SpvOpGroupNonUniformBitwiseAnd:
    case SpvOpGroupNonUniformBitwiseOr:
    case SpvOpGroupNonUniformBitwiseXor:
    case SpvOpGroupNonUniformLogicalAnd:
    case SpvOpGroupNonUniformLogicalOr:
    case SpvOpGroupNonUniformLogicalXor:
    case SpvOpGroupNonUniformBallotBitCount:
        return k != 4;
    default:
        return true;
    }
}

const char *rg_code_string(const rg_code *m, uint32_t inst, uint32_t k) {
    const rg_code_inst *i = &m->insts[inst];
    if (k >= i->len)
        return "";
    /* Characters are packed from the low byte of a word up, in either byte order of the file. */
    size_t n = (size_t)(i->len - k) * 4;
    char *s = rg_alloc(m->arena, n + 1);
    for (size_t c = 0; c < n; c++) {
        s[c] = (char)(m->words[i->at + k + c / 4] >> (8 * (c % 4)));
        if (!s[c])
            return s;
    }
    return "";
}

const char *rg_code_name(const rg_code *m, uint32_t id) {
    if (id < m->bound && m->name_of[id] != RG_CODE_NONE) {
        const char *s = rg_code_string(m, m->name_of[id], 2);
        if (*s)
            return s;
    }
    return rg_format(m->arena, "%%%u", (unsigned)id);
}

/* ---- reading ---- */

static bool is_preamble(uint32_t op) {
    switch (op) {
    case SpvOpCapability:
    case SpvOpExtension:
    case SpvOpExtInstImport:
    case SpvOpMemoryModel:
    case SpvOpEntryPoint:
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
    case SpvOpString:
    case SpvOpSourceExtension:
    case SpvOpSource:
    case SpvOpSourceContinued:
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpModuleProcessed:
    case SpvOpDecorate:
    case SpvOpMemberDecorate:
    case SpvOpDecorationGroup:
    case SpvOpGroupDecorate:
    case SpvOpGroupMemberDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
    case SpvOpMemberDecorateString:
        return true;
    default:
        return false;
    }
}

static bool is_terminator(uint32_t op) {
    switch (op) {
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpReturn:
    case SpvOpReturnValue:
    case SpvOpKill:
    case SpvOpUnreachable:
    case SpvOpTerminateInvocation:
    case SpvOpIgnoreIntersectionKHR:
    case SpvOpTerminateRayKHR:
    case SpvOpEmitMeshTasksEXT:
        return true;
    default:
        return false;
    }
}

/* Words that an instruction looked into must have at least. */
static uint32_t least_words(uint32_t op) {
    switch (op) {
    case SpvOpName:
    case SpvOpReturnValue:
    case SpvOpBranch:
    case SpvOpCapability:
    case SpvOpLabel:
    case SpvOpTypeVoid:
    case SpvOpTypeBool:
        return 2;
    case SpvOpDecorate:
    case SpvOpStore:
    case SpvOpCopyMemory:
    case SpvOpSelectionMerge:
    case SpvOpSwitch:
    case SpvOpMemoryModel:
    case SpvOpTypeFloat:
    case SpvOpPhi:
    case SpvOpFunctionParameter:
        return 3;
    case SpvOpLine:
    case SpvOpEntryPoint:
    case SpvOpMemberDecorate:
    case SpvOpLoad:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpTypeInt:
    case SpvOpTypePointer:
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeArray:
    case SpvOpConstant:
    case SpvOpVariable:
    case SpvOpLoopMerge:
    case SpvOpBranchConditional:
    case SpvOpFunctionCall:
    case SpvOpCompositeExtract:
    case SpvOpConvertUToPtr:
    case SpvOpBitcast:
    case SpvOpCopyObject:
    case SpvOpAtomicStore:
        return 4;
    case SpvOpFunction:
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain:
    case SpvOpExtInst:
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
        return 5;
    case SpvOpAtomicLoad:
    case SpvOpAtomicIIncrement:
    case SpvOpAtomicIDecrement:
    case SpvOpSelect:
        return 6;
    case SpvOpAtomicExchange:
    case SpvOpAtomicIAdd:
    case SpvOpAtomicFAddEXT:
        return 7;
    case SpvOpAtomicCompareExchange:
        return 9;
    default:
        return 1;
    }
}

static const char *read_insts(rg_code *m) {
    uint32_t n = 0;
    for (uint32_t at = HEADER_WORDS; at < m->n_words; n++) {
        uint32_t len = m->words[at] >> 16, op = m->words[at] & 0xffff;
        if (len == 0 || len > m->n_words - at)
            return rg_format(m->arena, "the instruction at word %u runs past the end", at);
        if (len < least_words(op))
            return rg_format(m->arena, "the instruction at word %u is too short", at);
        at += len;
    }
    m->insts = RG_NEW_N(m->arena, rg_code_inst, n + 1);
    m->n_insts = n;
    uint32_t at = HEADER_WORDS;
    for (uint32_t k = 0; k < n; k++) {
        rg_code_inst *i = &m->insts[k];
        i->at = at;
        i->op = (uint16_t)m->words[at];
        i->len = (uint16_t)(m->words[at] >> 16);
        bool has_result = false, has_type = false;
        SpvHasResultAndType((SpvOp)i->op, &has_result, &has_type);
        if (i->len < 1u + has_result + has_type)
            return rg_format(m->arena, "the instruction at word %u is too short", at);
        if (has_type)
            i->type = m->words[at + 1];
        if (has_result) {
            i->result = m->words[at + 1 + has_type];
            if (i->result == 0 || i->result >= m->bound)
                return rg_format(m->arena, "the result of the instruction at word %u is no id", at);
            if (m->def[i->result] != RG_CODE_NONE)
                return rg_format(m->arena, "id %%%u is defined twice", i->result);
            m->def[i->result] = k;
        }
        at += i->len;
    }
    for (uint32_t k = 0; k < n; k++) {
        const rg_code_inst *i = &m->insts[k];
        if (i->type && (i->type >= m->bound || m->def[i->type] == RG_CODE_NONE))
            return rg_format(m->arena, "the type of the instruction at word %u is not defined",
                             i->at);
    }
    return NULL;
}

bool rg_code_is_debug(const rg_code *m, uint32_t inst) {
    uint32_t set = rg_code_word(m, inst, 3);
    return m->insts[inst].op == SpvOpExtInst && set < m->bound &&
           (m->marks[set] & RG_CODE_NON_SEMANTIC);
}

/* NonSemantic.Shader.DebugInfo.100: 103 is DebugLine, 104 DebugNoLine. */
static uint32_t debug_line(const rg_code *m, uint32_t k) {
    return rg_code_is_debug(m, k) ? rg_code_word(m, k, 4) : 0;
}

static void mark(rg_code *m, uint32_t k) {
    uint32_t id = rg_code_word(m, k, 1);
    if (m->insts[k].op == SpvOpExtInstImport) {
        const char *set = rg_code_string(m, k, 2);
        if (strncmp(set, "NonSemantic.", 12) == 0)
            m->marks[id] |= RG_CODE_NON_SEMANTIC;
    } else if (m->insts[k].op == SpvOpDecorate && id < m->bound) {
        switch (rg_code_word(m, k, 2)) {
        case SpvDecorationRestrict:
            m->marks[id] |= RG_CODE_RESTRICT;
            break;
        case SpvDecorationBufferBlock:
            m->marks[id] |= RG_CODE_BUFFER_BLOCK;
            break;
        case SpvDecorationArrayStride:
            m->marks[id] |= RG_CODE_STRIDE;
            break;
        default:
            break;
        }
    }
}

static const char *read_structure(rg_code *m) {
    uint32_t n_blocks = 0, n_functions = 0;
    for (uint32_t k = 0; k < m->n_insts; k++) {
        n_blocks += m->insts[k].op == SpvOpLabel;
        n_functions += m->insts[k].op == SpvOpFunction;
    }
    m->blocks = RG_NEW_N(m->arena, rg_code_block, n_blocks + 1);
    m->functions = RG_NEW_N(m->arena, rg_code_function, n_functions + 1);
    m->types_at = m->functions_at = m->n_insts;
    bool in_function = false, in_block = false, model = false;
    uint32_t line = RG_CODE_NONE;
    for (uint32_t k = 0; k < m->n_insts; k++) {
        const rg_code_inst *i = &m->insts[k];
        m->block_of[k] = RG_CODE_NONE;
        if (m->types_at == m->n_insts && !is_preamble(i->op))
            m->types_at = k;
        if (m->types_at != m->n_insts && is_preamble(i->op))
            return rg_format(m->arena, "the instruction at word %u is in the wrong place", i->at);
        model |= i->op == SpvOpMemoryModel;
        mark(m, k);
        uint32_t debug = debug_line(m, k);
        if (i->op == SpvOpLine || debug == 103)
            line = k;
        else if (i->op == SpvOpNoLine || debug == 104 || i->op == SpvOpFunctionEnd)
            line = RG_CODE_NONE;
        m->line_of[k] = line;
        if (i->op == SpvOpName && rg_code_word(m, k, 1) < m->bound)
            m->name_of[rg_code_word(m, k, 1)] = k;
        if (i->op == SpvOpFunction) {
            if (in_function)
                return rg_format(m->arena, "a function begins inside another at word %u", i->at);
            if (m->functions_at == m->n_insts)
                m->functions_at = k;
            m->functions[m->n_functions] =
                (rg_code_function){.first = k, .last = k, .first_block = m->n_blocks};
            in_function = true;
        } else if (i->op == SpvOpFunctionEnd) {
            if (!in_function || in_block)
                return rg_format(m->arena, "OpFunctionEnd is misplaced at word %u", i->at);
            m->functions[m->n_functions++].last = k;
            in_function = false;
        } else if (i->op == SpvOpLabel) {
            if (!in_function || in_block)
                return rg_format(m->arena, "OpLabel is misplaced at word %u", i->at);
            m->blocks[m->n_blocks] = (rg_code_block){.label = k,
                                                     .last = k,
                                                     .function = m->n_functions,
                                                     .merge = RG_CODE_NONE,
                                                     .cont = RG_CODE_NONE};
            m->functions[m->n_functions].n_blocks++;
            m->block_of[k] = m->n_blocks++;
            in_block = true;
        } else if (in_block) {
            m->block_of[k] = m->n_blocks - 1;
            if (is_terminator(i->op)) {
                m->blocks[m->n_blocks - 1].last = k;
                in_block = false;
                line = RG_CODE_NONE;
            }
        } else if (in_function) {
            if (i->op != SpvOpFunctionParameter && i->op != SpvOpLine && i->op != SpvOpNoLine &&
                i->op != SpvOpExtInst)
                return rg_format(m->arena, "the instruction at word %u is in no block", i->at);
        } else if (is_terminator(i->op) || i->op == SpvOpLoad || i->op == SpvOpStore) {
            return rg_format(m->arena, "the instruction at word %u is in no function", i->at);
        }
    }
    if (in_function)
        return "the last function has no end";
    if (!model)
        return "there is no OpMemoryModel";
    return NULL;
}

static uint32_t block_named(const rg_code *m, uint32_t label, uint32_t function) {
    if (rg_code_def_op(m, label) != SpvOpLabel)
        return RG_CODE_NONE;
    uint32_t b = m->block_of[m->def[label]];
    return m->blocks[b].function == function ? b : RG_CODE_NONE;
}

/* Successor word numbers of a terminator are the ids among its words that name labels. */
static const char *read_edges(rg_code *m) {
    uint32_t room = 0;
    for (uint32_t b = 0; b < m->n_blocks; b++)
        room += m->insts[m->blocks[b].last].len;
    m->succs = RG_NEW_N(m->arena, uint32_t, room + 1);
    m->preds = RG_NEW_N(m->arena, uint32_t, room + 1);
    uint32_t n = 0;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        rg_code_block *k = &m->blocks[b];
        const rg_code_inst *t = &m->insts[k->last];
        k->first_succ = n;
        if (t->op == SpvOpBranch || t->op == SpvOpBranchConditional || t->op == SpvOpSwitch)
            for (uint32_t w = t->op == SpvOpBranch ? 1 : 2; w < t->len; w++) {
                if (!rg_code_is_id(m, k->last, w))
                    continue;
                uint32_t to = block_named(m, rg_code_word(m, k->last, w), k->function);
                if (to == RG_CODE_NONE)
                    return rg_format(m->arena, "the branch at word %u leads to no block", t->at);
                m->succs[n++] = to;
                m->blocks[to].n_pred++;
            }
        k->n_succ = n - k->first_succ;
        uint32_t before = k->last - 1;
        uint32_t op = before > k->label ? m->insts[before].op : 0;
        if (op == SpvOpLine || op == SpvOpNoLine) {
            before--;
            op = before > k->label ? m->insts[before].op : 0;
        }
        if (op == SpvOpLoopMerge || op == SpvOpSelectionMerge) {
            k->loop = op == SpvOpLoopMerge;
            k->merge = block_named(m, rg_code_word(m, before, 1), k->function);
            if (k->loop)
                k->cont = block_named(m, rg_code_word(m, before, 2), k->function);
            if (k->merge == RG_CODE_NONE || (k->loop && k->cont == RG_CODE_NONE))
                return rg_format(m->arena, "the merge at word %u names no block",
                                 m->insts[before].at);
        }
    }
    uint32_t at = 0;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        m->blocks[b].first_pred = at;
        at += m->blocks[b].n_pred;
        m->blocks[b].n_pred = 0;
    }
    for (uint32_t b = 0; b < m->n_blocks; b++)
        for (uint32_t s = 0; s < m->blocks[b].n_succ; s++) {
            rg_code_block *to = &m->blocks[m->succs[m->blocks[b].first_succ + s]];
            m->preds[to->first_pred + to->n_pred++] = b;
        }
    return NULL;
}

/* Uses are recorded for instructions in blocks only: those that run. */
static const char *read_uses(rg_code *m) {
    m->uses_at = RG_NEW_N(m->arena, uint32_t, m->bound + 1);
    uint32_t *next = RG_NEW_N(m->arena, uint32_t, m->bound + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = m->functions_at; k < m->n_insts; k++) {
            const rg_code_inst *i = &m->insts[k];
            if (m->block_of[k] == RG_CODE_NONE || i->op == SpvOpLine || i->op == SpvOpNoLine)
                continue;
            for (uint32_t w = 1; w < i->len; w++) {
                if (!rg_code_is_id(m, k, w))
                    continue;
                uint32_t id = m->words[i->at + w];
                if (id != 0 && id < m->bound) {
                    if (pass == 0)
                        next[id]++;
                    else
                        m->uses[next[id]++] = k;
                } else if (least_words(i->op) > 1) {
                    return rg_format(m->arena, "an operand of the instruction at word %u is no id",
                                     i->at);
                }
            }
        }
        if (pass == 0) {
            uint32_t total = 0;
            for (uint32_t id = 0; id < m->bound; id++) {
                uint32_t n = next[id];
                m->uses_at[id] = next[id] = total;
                total += n;
            }
            m->uses_at[m->bound] = total;
            m->uses = RG_NEW_N(m->arena, uint32_t, total + 1);
        }
    }
    return NULL;
}

rg_code *rg_code_read(rg_arena *a, const void *bytes, size_t size, const char **why) {
    *why = NULL;
    if (!bytes || size < HEADER_WORDS * 4) {
        *why = "it is shorter than a SPIR-V header";
        return NULL;
    }
    if (size % 4 || size / 4 > UINT32_MAX / 4) {
        *why = "its size is not that of 32-bit words";
        return NULL;
    }
    rg_code *m = RG_NEW(a, rg_code);
    m->arena = a;
    m->n_words = (uint32_t)(size / 4);
    uint32_t *words = RG_NEW_N(a, uint32_t, m->n_words);
    memcpy(words, bytes, size);
    m->words = words;
    m->swapped = words[0] == 0x03022307;
    if (m->swapped)
        for (uint32_t k = 0; k < m->n_words; k++)
            words[k] = words[k] << 24 | (words[k] & 0xff00) << 8 | (words[k] >> 8 & 0xff00) |
                       words[k] >> 24;
    if (words[0] != SpvMagicNumber) {
        *why = "it does not begin with SPIR-V's magic number";
        return NULL;
    }
    m->version = words[1];
    m->bound = words[3];
    if ((m->version & 0xff0000ff) || m->version < 0x10000 || m->version > 0x1ffff) {
        *why = rg_format(a, "version 0x%x of SPIR-V is unknown", (unsigned)m->version);
        return NULL;
    }
    if (m->bound == 0 || m->bound > MAX_BOUND + 1) {
        *why = rg_format(a, "its bound on ids, %u, is out of range", (unsigned)m->bound);
        return NULL;
    }
    m->def = RG_NEW_N(a, uint32_t, m->bound);
    m->name_of = RG_NEW_N(a, uint32_t, m->bound);
    m->marks = RG_NEW_N(a, uint8_t, m->bound);
    memset(m->def, 0xff, m->bound * sizeof *m->def);
    memset(m->name_of, 0xff, m->bound * sizeof *m->name_of);
    *why = read_insts(m);
    if (*why)
        return NULL;
    m->block_of = RG_NEW_N(a, uint32_t, m->n_insts + 1);
    m->line_of = RG_NEW_N(a, uint32_t, m->n_insts + 1);
    if ((*why = read_structure(m)) || (*why = read_edges(m)) || (*why = read_uses(m)))
        return NULL;
    return m;
}
