/* The IR's text form: rg_ir_read(rg_ir_print(f)) equals f. Grammar: docs/ir.md. */
#ifndef RG_IR_PRINT_H
#define RG_IR_PRINT_H

#include "base/text.h"
#include "ir/ir.h"

void rg_ir_print(const rg_fn *f, rg_text *out);
void rg_ir_print_module(const rg_ir_module *m, rg_text *out);
/* Words for the flag bits of instructions and of arrays, as the text spells them ("atomic"); NULL
 * for a bit number past the last. */
const char *rg_ir_ins_word(uint32_t bit);
const char *rg_ir_array_word(uint32_t bit);
/* Errors with line and column go to d; NULL then. Struct types are part of the text. */
rg_ir_module *rg_ir_read(rg_arena *a, rg_diags *d, const char *path, const char *text, size_t size);

#endif
