/* What most commands start with: a context, a device, a compiled file. */
#ifndef RG_CLI_SESSION_H
#define RG_CLI_SESSION_H

#include "args.h"

typedef struct rg_cli_session {
    rg_context *ctx;
    rg_device *dev; /* NULL: compiled only */
    rg_module *mod;
    bool unchecked; /* RG_CLI_CHECKED was asked for, and the device cannot */
} rg_cli_session;

enum { RG_CLI_HOST_ONLY = 1, RG_CLI_RACES = 2, RG_CLI_CHECKED = 4, RG_CLI_NO_CACHE = 8 };

/* Opens the device that args (or `device`, when not NULL) names and compiles args->file for it.
 * False: what was wrong is printed. Close in any case. */
bool rg_cli_session_open(const rg_cli_args *args, const char *device, int flags,
                         rg_cli_session *out);
void rg_cli_session_close(rg_cli_session *s);

/* Prints the context's message for a call that failed: "retrograd: WHAT: message". A message that
 * starts with a place in a file is printed as it is, so that editors can follow it. */
void rg_cli_session_fail(const rg_context *ctx, const char *what, rg_status s);
/* The kernels a command works on: the one named, or all. False: printed. */
bool rg_cli_session_kernels(const rg_cli_session *s, const char *name, rg_kernel ***out, size_t *n);

#endif
