/* Results of `run`: what --out asks for, as text, .npy or JSON. */
#ifndef RG_CLI_RESULTS_H
#define RG_CLI_RESULTS_H

#include "json.h"
#include "launch.h"

/* Reports every --out that names nothing the mode gives. */
void rg_cli_results_check(const rg_cli_binding *b, const rg_cli_args *a);
/* Writes them. With no --out, prints what the kernel may have changed, cut short. j: NULL unless
 * --json. False: reported. */
bool rg_cli_results_write(rg_cli_launch *l, const rg_cli_args *a, rg_json *j);

#endif
