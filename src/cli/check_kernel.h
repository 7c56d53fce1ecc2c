/* The gradient check of one kernel: what is tested, and the figures that come out. */
#ifndef RG_CLI_CHECK_KERNEL_H
#define RG_CLI_CHECK_KERNEL_H

#include "check_model.h"
#include "session.h"

typedef enum rg_check_state {
    RG_CHECK_NONE, /* does not apply */
    RG_CHECK_PASS,
    RG_CHECK_FAIL,
    RG_CHECK_SKIP, /* could not be decided; the note says why */
} rg_check_state;

typedef struct rg_check_cell {
    rg_check_state state;
    double error; /* relative */
    const char *note;
} rg_check_cell;

typedef struct rg_check_row {
    const char *param;
    bool has_gradient;
    double nonzero; /* share of the gradient's scalars */
    rg_check_cell tangent, difference, primal;
    rg_check_cell hvp, orders; /* with --second-order */
    size_t kinks;              /* differences that a kink left undecided */
    const char *kink;          /* words on the first of them */
} rg_check_row;

typedef struct rg_check_report {
    const char *kernel;
    size_t n;
    rg_check_row *rows;
    rg_check_cell whole; /* a failure (or skip) of the kernel as a whole */
    const char *inputs;  /* integers drawn */
} rg_check_report;

typedef struct rg_check {
    const rg_cli_args *args;
    rg_cli_session *device;    /* checked mode */
    rg_cli_session *reference; /* `ref` with races; NULL: not to be had, or the device itself */
    rg_check_build *fine;      /* float as double */
    rg_check_build *plain;     /* as it is; made when first needed */
    const rg_cli_binding *const *bindings; /* all kernels', for the builds */
    size_t n_bindings;
    bool says_float; /* the file has floats in it, whatever the parameters are */
} rg_check;

/* False: bad input, reported (rg_cli_problem). */
bool rg_check_kernel(rg_check *c, rg_cli_binding *b, rg_check_report *out);

#endif
