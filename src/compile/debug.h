/* Dumps for whoever works on the compiler: RETROGRAD_DEBUG=help lists them. */
#ifndef RG_COMPILE_DEBUG_H
#define RG_COMPILE_DEBUG_H

#include "ir/ir.h"
#include "opt/opt.h"

/* After the stage `name` ("lang", "ssa", "ad", "final", or a pass): verifies f in debug builds or
 * when asked to (a fault is an internal error, thrown in f's arena), reads back what it prints when
 * asked to, and prints it to stderr when RETROGRAD_DEBUG names the stage. */
void rg_debug_stage(rg_fn *f, const char *name);
/* For rg_opt_run: calls rg_debug_stage after each pass. */
rg_opt_options rg_debug_opt(void);
/* Is `name` one of the words of RETROGRAD_DEBUG? */
bool rg_debug_asked(const char *name);
/* A text of another kind ("cpu": what the CPU device compiles), printed when named. */
void rg_debug_text(const char *name, const char *text);

#endif
