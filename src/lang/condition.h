/* Conditions: the expressions of #if and #elif (C11 6.10.1). */
#ifndef RG_LANG_CONDITION_H
#define RG_LANG_CONDITION_H

#include "lang/macro.h"

/* line: what stands after the directive, unexpanded; loc: of the directive. False after an error,
 * which goes to the expander's diagnostics. */
bool rg_condition_holds(rg_expander *ex, const char *directive, rg_loc loc, const rg_lexemes *line);

#endif
