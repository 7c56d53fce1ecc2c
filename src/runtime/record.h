/* Records: a launch that was run, and what its adjoint needs. */
#ifndef RG_RUNTIME_RECORD_H
#define RG_RUNTIME_RECORD_H

#include "runtime/launch.h"

enum { RG_RECORD_AXES = 16 }; /* of a record array */

/* A record array (ad.h): values that atomics captured in the launch, results of its reductions. */
typedef struct rg_recorded {
    size_t offset; /* in the memory of all of them */
    int64_t shape[RG_RECORD_AXES];
} rg_recorded;

/* hold: keep copies of what later launches overwrite (tapes), instead of finding out that the
 * arrays have changed. */
rg_status rg_record_make(rg_kernel *k, const rg_arg *args, size_t n, bool hold, rg_record **out);
rg_status rg_record_backward(rg_record *r);

/* Where the record arrays that an adjoint reads lie in a memory of *bytes, for the launch that is
 * bound. list: [records.all of the kernel]. */
rg_status rg_record_layout(const rg_program *adjoint, rg_recorded *list, size_t *bytes);
/* Adds a gradient of `count` elements to another one: of parameters that are one array each has its
 * own at first. The host does it, in its memory. */
rg_status rg_record_add(rg_device *dev, const rg_elem *e, size_t count, unsigned char *to,
                        unsigned char *from);

#endif
