/* Text of kernels' variants to a file or the terminal: shared by emit and explain. */
#ifndef RG_CLI_TEXT_OUT_H
#define RG_CLI_TEXT_OUT_H

#include "session.h"

/* Emits the named kernel, or all, one after another (SPIR-V: one only). Returns an exit status. */
int rg_cli_text_out(const rg_cli_args *a, rg_target target, rg_kernel_mode mode);

/* --active x,k: which parameters of k carry gradients. NULL: all that can. only: an unknown name is
 * a problem, since no other kernel can have meant it. */
const bool *rg_cli_active(rg_kernel *k, rg_context *ctx, const char *names, bool only);

#endif
