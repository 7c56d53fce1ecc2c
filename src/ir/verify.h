/* Checks every rule of the IR (ir.h): types, scopes, region shapes, array accesses, reductions. */
#ifndef RG_IR_VERIFY_H
#define RG_IR_VERIFY_H

#include "base/text.h"
#include "ir/ir.h"

/* False, and the first fault in words in out, when f breaks a rule. */
bool rg_ir_verify(const rg_fn *f, rg_text *out);

#endif
