/* The C compiler behind the CPU device. */
#ifndef RG_RUNTIME_CC_H
#define RG_RUNTIME_CC_H

#include "runtime/device.h"

/* First line of `cc --version`, in arena memory; NULL, and *why, when it cannot be run. */
const char *rg_cc_version(rg_arena *a, const char *cc, const char **why);
/* Compiles a C text to a shared object, by way of the cache, and opens it: a handle for dlsym. */
rg_status rg_cc_load(rg_device *dev, rg_arena *a, const char *text, size_t size, void **handle);

#endif
