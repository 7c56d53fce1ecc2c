/* Metal sources on the CPU: tasks, as Metal text, are compiled by clang++ with the stand-in for
 * <metal_stdlib> beside this file, and run with their threads as fibers. */
#ifndef RG_TESTS_MSL_HARNESS_H
#define RG_TESTS_MSL_HARNESS_H

#include "base/text.h"
#include "compile/msl.h"

typedef struct msl_code msl_code;

/* NULL with *why (in a). Free with msl_code_free; its memory is a's. */
msl_code *msl_code_new(rg_arena *a, const rg_msl_source *tasks, uint32_t n, const char **why);
void msl_code_free(msl_code *c);

/* Runs a task on so many threadgroups of the size that its source says. buffers[k] is what
 * [[buffer(k)]] is bound to. simd: threads of a simdgroup, 1 to 64. False: *why, static. */
bool msl_code_run(const msl_code *c, uint32_t task, void *const *buffers, uint32_t groups,
                  uint32_t simd, const char **why);

#endif
