/* The check of second derivatives: see check_second.c. */
#ifndef RG_CLI_CHECK_SECOND_H
#define RG_CLI_CHECK_SECOND_H

#include "check_kernel.h"
#include "launch.h"

typedef struct rg_check_second {
    rg_cli_session *device;
    rg_cli_launch *launch; /* with gradients */
    rg_cli_binding *b;     /* its data is changed, and put back */
    double *const *weight; /* [n] incoming gradients; NULL: zeros */
    double *const *grad;   /* [n] the adjoint's result; NULL: no floats */
    bool says_float;       /* the file has floats in it, whatever the parameters are */
} rg_check_second;

/* Along a random direction in parameter i. */
void rg_check_second_order(const rg_check_second *s, size_t i, rg_cli_rng *r, rg_check_row *row);

#endif
