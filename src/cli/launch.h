/* Launch: the arguments of a kernel as arrays on a device, made from a binding. */
#ifndef RG_CLI_LAUNCH_H
#define RG_CLI_LAUNCH_H

#include "binding.h"

typedef struct rg_cli_launch {
    rg_kernel *kernel; /* may be of another device than the binding's */
    const rg_cli_binding *binding;
    rg_arg *args;             /* [binding->n] */
    rg_direction *directions; /* [binding->n] of a Hessian-vector product, or NULL */
} rg_cli_launch;

/* Arrays of the binding's shapes; with gradients: every float array and scalar gets one. */
rg_status rg_cli_launch_new(rg_kernel *k, const rg_cli_binding *b, bool gradients,
                            rg_cli_launch *out);
void rg_cli_launch_free(rg_cli_launch *l);
/* Writes the binding's data, and zeros to all gradients. */
rg_status rg_cli_launch_reset(rg_cli_launch *l);
/* The gradient (or tangent) of parameter i, count * item_size bytes. */
rg_status rg_cli_launch_set_gradient(rg_cli_launch *l, size_t i, const void *from);
rg_status rg_cli_launch_get_gradient(rg_cli_launch *l, size_t i, void *to);
/* Makes the arrays of directions and products, zero but for what --dot gave. After reset. */
rg_status rg_cli_launch_directions(rg_cli_launch *l);
rg_status rg_cli_launch_get_direction(rg_cli_launch *l, size_t i, bool product, void *to);
rg_status rg_cli_launch_get_data(rg_cli_launch *l, size_t i, void *to);
bool rg_cli_launch_has_gradient(const rg_cli_launch *l, size_t i);

#endif
