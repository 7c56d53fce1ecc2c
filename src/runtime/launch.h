/* What every launch begins with: the arguments checked against the kernel's parameters, and bound.
 */
#ifndef RG_RUNTIME_LAUNCH_H
#define RG_RUNTIME_LAUNCH_H

#include "runtime/array.h"
#include "runtime/module.h"

typedef enum rg_launch_use { RG_USE_PLAIN, RG_USE_RECORD, RG_USE_TANGENT } rg_launch_use;

/* Fills k's bindings, active and same. Only RECORD and TANGENT look at gradients' memory. */
rg_status rg_launch_bind(rg_kernel *k, const rg_arg *args, size_t n, rg_launch_use use);
/* Before and after a run that writes the kernel's arrays: keeps what a tape needs, makes room; then
 * new versions, and which arrays now depend on something with a gradient. */
rg_status rg_launch_before_writes(rg_kernel *k, const rg_arg *args);
void rg_launch_wrote(rg_kernel *k, const rg_arg *args);

/* Makes programs (at most 4) ready to run, and the primal with them. */
rg_status rg_launch_prepare(rg_kernel *k, rg_program *const *programs, uint32_t n);
/* Gets a program that is ready to run, and the primal with it. */
rg_status rg_launch_program(rg_kernel *k, rg_mode mode, const uint8_t *active, rg_program **out);
/* The adjoint, or what HVP runs, for the launch that is bound: one whose loops save no more than
 * the module's tape memory (fit.c). */
rg_status rg_launch_fitting(rg_kernel *k, rg_mode mode, rg_program **out);
rg_status rg_fit(rg_kernel *k, rg_mode mode, const uint8_t *wanted, rg_program **out);
/* Runs it on k's bindings; an error sticks to the device. */
rg_status rg_launch_run(rg_program *p, const rg_binding *bindings);

#endif
