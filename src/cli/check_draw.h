/* Inputs for `check`: whatever the user did not give is drawn, in several manners, because a
 * kernel may want positive numbers, equal extents or small indices. */
#ifndef RG_CLI_CHECK_DRAW_H
#define RG_CLI_CHECK_DRAW_H

#include "binding.h"

/* Manners of drawing, from the one that shows most to the one that most kernels can take. */
enum { RG_DRAW_MANNERS = 10 };

/* Marks what is given (values, and extents solved from them); to be called once, after
 * rg_cli_binding_solve. fixed[n]. */
void rg_check_mark_given(const rg_cli_binding *b, bool *fixed);
bool rg_check_any_drawn(const rg_cli_binding *b, const bool *fixed);
/* Draws everything that is not fixed. False when this manner fits no shape; problems in what the
 * user gave are reported (rg_cli_problem). */
bool rg_check_draw(rg_cli_binding *b, const bool *fixed, int manner, uint64_t seed);
/* "n=7, steps=2" of the integers drawn. */
const char *rg_check_drawn_text(const rg_cli_binding *b, const bool *fixed);

#endif
