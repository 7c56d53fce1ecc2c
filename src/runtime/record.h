/* Records: a launch that was run, and what its adjoint needs. */
#ifndef RG_RUNTIME_RECORD_H
#define RG_RUNTIME_RECORD_H

#include "retrograd.h"

/* hold: keep copies of what later launches overwrite (tapes), instead of finding out that the
 * arrays have changed. */
rg_status rg_record_make(rg_kernel *k, const rg_arg *args, size_t n, bool hold, rg_record **out);
rg_status rg_record_backward(rg_record *r);

#endif
