/* C emitter: the plain-C product and the form that the CPU device compiles.
 *
 * Plain C (DESIGN section 4): readable, names kept, any C99 compiler takes it alone:
 *     void f(parameters)
 *     void f_adjoint(parameters of f, each active array x followed by x_b and each active scalar k
 *                    by k_b[1], then void *scratch)      and  size_t f_adjoint_scratch(...)
 *     void f_tangent(the same with x_d, k_d[1], then void *scratch)
 *
 * CPU form: a C file for several variants of kernels, to be compiled into one shared object. Each
 * variant is an entry  int NAME(const struct rg_cpu_env *env, const void *args)  over the argument
 * block of emit/layout.h; parallel regions are functions over an index range, handed to
 * env->parallel. The text includes emit/c/cpu_abi.h's contents. */
#ifndef RG_EMIT_C_H
#define RG_EMIT_C_H

#include "base/text.h"
#include "ir/ir.h"

typedef struct rg_emit_c_options {
    bool checked; /* CPU form: report bounds, division and shifts through env->fault */
    /* CPU form: [n] what each variant was made for, or NULL. Parameters in one group share their
     * gradient's memory, all others get `restrict`. Without this, gradients of the same element
     * type are taken to be shared: always right, not always as fast. */
    const rg_activity *const *acts;
} rg_emit_c_options;

/* One kernel variant as a stand-alone C file: struct types, helpers it uses, function(s). 0, or an
 * array whose length it needs although no declaration gives it (`float *x`): the text is then of no
 * use. */
rg_aid rg_emit_c_plain(const rg_fn *f, const rg_activity *act, rg_text *out);
/* The same for several functions in one file: types, helpers and includes once. acts may be NULL.
 * *which: the function whose array has no length. */
rg_aid rg_emit_c_plain_file(const rg_fn *const *fns, const rg_activity *const *acts, uint32_t n,
                            uint32_t *which, rg_text *out);
/* entry_names[i]: the symbol of variant i. */
void rg_emit_c_cpu(const rg_fn *const *fns, const char *const *entry_names, uint32_t n,
                   const rg_emit_c_options *o, rg_text *out);

#endif
