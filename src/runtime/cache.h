/* The cache of compiled kernels on disk.
 *
 * A folder of the user's own (mode 0700; one that somebody else owns or may write to is refused),
 * one file per entry, named by the key's 64 digits and ".so" (a shared object) or ".bin" (data),
 * then a trailer with its length and SHA-256. A file is checked whole before it is loaded; one that
 * fails is removed and made again. New files are written under another name and renamed, so that
 * any number of processes may fill the cache at once: the last one wins, and all are good. */
#ifndef RG_RUNTIME_CACHE_H
#define RG_RUNTIME_CACHE_H

#include "runtime/context.h"

/* Makes the folder if need be. False: no cache can be used, *why says so (static or in a). */
bool rg_cache_open(rg_context *ctx, rg_arena *a, const char **why);

/* Path of the entry of that key; NULL when there is no cache. */
const char *rg_cache_path(rg_context *ctx, rg_arena *a, const char *hex);
/* Is there an entry at path, whole? A damaged one is removed. */
bool rg_cache_good(rg_context *ctx, const char *path);
/* Adds the trailer to the finished file `from` (in the cache's folder) and renames it to path. */
bool rg_cache_keep(rg_context *ctx, const char *from, const char *path);

/* Data under that key: a driver's pipelines, what was measured of a device. Load gives memory of
 * the context (rg_ctx_free with the size). Both false when there is no entry, or no cache. */
bool rg_cache_load(rg_context *ctx, const char *hex, void **data, size_t *size);
bool rg_cache_store(rg_context *ctx, const char *hex, const void *data, size_t size);

#endif
