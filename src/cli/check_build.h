/* A kernel file built by the system's C compiler, with float as double (or as it is), loaded into
 * this process: the reference that differences are taken of. */
#ifndef RG_CLI_CHECK_BUILD_H
#define RG_CLI_CHECK_BUILD_H

#include "binding.h"

typedef void (*rg_check_call)(void **args);

/* How rg_stop behaves: as the identity, keeping each value, giving back the kept ones;
 * FREE: forgets them. */
enum { RG_CHECK_STOP_PASS, RG_CHECK_STOP_KEEP, RG_CHECK_STOP_REPLAY, RG_CHECK_STOP_FREE };

typedef struct rg_check_build {
    bool as_double;
    bool ready;
    bool no_compiler;    /* not ready because there is none */
    const char *why_not; /* when not ready */
    void *library;
    void (*stop_mode)(int);
    int (*stop_mismatch)(void); /* replayed calls did not follow the kept ones */
    char *dir;
} rg_check_build;

/* Compiles a->file with all the kernels of bindings. */
void rg_check_build_new(const rg_cli_args *a, const rg_cli_binding *const *bindings, size_t n,
                        bool as_double, rg_check_build *out);
void rg_check_build_free(rg_check_build *b);
/* NULL when it is not there. args[i]: data of arrays, address of by-value parameters. */
rg_check_call rg_check_build_call(const rg_check_build *b, const char *kernel);
/* Layout of parameter i's element in this build: item size, and the offset of each field. */
void rg_check_build_layout(const rg_check_build *b, const rg_cli_binding *kernel, size_t i,
                           size_t *item_size, size_t *offsets);

/* Does a file's text compute in float, whatever its parameters are? Directives do not count. */
bool rg_check_text_in_float(const char *text);

#endif
