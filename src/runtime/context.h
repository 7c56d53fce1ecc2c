/* Contexts: the allocator, the message of the last failure, and the cache's folder. There are no
 * globals: everything hangs from a context and goes back to its allocator.
 *
 * Handles (contexts, devices, modules, arrays, records, tapes) open with an rg_handle: a magic
 * number that tells them apart, a count of users, and whether the caller has let go. A handle that
 * the caller released lives on while another one needs it; debug builds (RG_DEBUG_VERIFY) keep even
 * the dead ones until the context goes, so that using one is an error rather than a crash. */
#ifndef RG_RUNTIME_CONTEXT_H
#define RG_RUNTIME_CONTEXT_H

#include "retrograd.h"

#include "base/arena.h"

typedef enum rg_magic {
    RG_MAGIC_CONTEXT = 0x52474378,
    RG_MAGIC_DEVICE = 0x52474476,
    RG_MAGIC_MODULE = 0x52474d64,
    RG_MAGIC_KERNEL = 0x52474b6e,
    RG_MAGIC_ARRAY = 0x52474179,
    RG_MAGIC_RECORD = 0x52475263,
    RG_MAGIC_TAPE = 0x52475470
} rg_magic;

typedef struct rg_handle {
    uint32_t magic;
    uint32_t refs; /* users: the caller, and handles that need this one */
    bool released; /* by the caller */
    size_t size;   /* of the struct that this opens */
    struct rg_handle *next_dead;
} rg_handle;

struct rg_context {
    rg_handle handle;
    rg_allocator allocator;
    bool libc;       /* the allocator is the C library's */
    char *cache_dir; /* NULL: no cache on disk */
    char *message;   /* `small`, or grown memory of message_size bytes */
    size_t message_size;
    char small[512];
    rg_handle *dead; /* debug builds */
};

/* Zeroed memory; NULL when out of memory (the message is set). */
void *rg_ctx_alloc(rg_context *ctx, size_t size);
void rg_ctx_free(rg_context *ctx, void *p, size_t size); /* size as given to rg_ctx_alloc */
char *rg_ctx_strdup(rg_context *ctx, const char *s);
void rg_ctx_strfree(rg_context *ctx, char *s);
/* Text that the caller of the library frees with rg_free. */
char *rg_ctx_gift(rg_context *ctx, const char *s);
char *rg_ctx_gift_bytes(rg_context *ctx, const void *from, size_t n); /* and a zero byte */

/* Sets the message and returns s. */
rg_status rg_fail(rg_context *ctx, rg_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
rg_status rg_fail_memory(rg_context *ctx);
/* What a guard that caught `code` in arena a has to return. */
rg_status rg_fail_thrown(rg_context *ctx, const rg_arena *a, int code);

/* A handle's struct of `size` bytes, with one user; NULL when out of memory. */
void *rg_handle_new(rg_context *ctx, size_t size, rg_magic magic);
void rg_handle_free(rg_context *ctx, rg_handle *h);
/* NULL when h is a live handle of that kind, else words for what it is: "null", "released" ... */
const char *rg_handle_fault(const rg_handle *h, rg_magic magic);

void rg_context_retain(rg_context *ctx);
void rg_context_drop(rg_context *ctx);

#endif
