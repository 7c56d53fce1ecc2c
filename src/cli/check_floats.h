/* What the parts of the gradient check share: the floats of parameters, and cells of the report. */
#ifndef RG_CLI_CHECK_FLOATS_H
#define RG_CLI_CHECK_FLOATS_H

#include "check_kernel.h"

size_t rg_check_floats(const rg_cli_param *p);
/* Float scalars of elements in the device's layout, to and from doubles. set rounds the values to
 * what the device's type holds, so that both sides use the same numbers. */
void rg_check_floats_get(const rg_cli_param *p, const void *items, double *to);
void rg_check_floats_set(const rg_cli_param *p, void *items, double *values);
/* Zeros; ends the program when there is no memory. Free with free. */
void *rg_check_room(size_t n, size_t size);
double rg_check_largest(const double *v, size_t n);

/* The session's last message, kept. */
const char *rg_check_message(const rg_cli_session *s, rg_status st);
/* The worst of what was found stays: failures, then passes with the larger error, then skips. */
void rg_check_note(rg_check_cell *c, rg_check_state state, double error, const char *note);
/* Passes up to the limit; NaN fails. */
void rg_check_test(rg_check_cell *c, double error, double limit, const char *note);

#endif
