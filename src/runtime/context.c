#include "runtime/context.h"

#include "compile/version.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *libc_resize(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

const char *rg_version(void) {
    return RG_VERSION_TEXT;
}

const char *rg_status_name(rg_status s) {
    static const char *const names[] = {"ok",     "argument", "source",      "refused",
                                        "memory", "file",     "device",      "compiler",
                                        "fault",  "state",    "unsupported", "internal"};
    return (size_t)s < sizeof names / sizeof *names ? names[s] : "unknown";
}

/* ---- memory ---- */

void *rg_ctx_alloc(rg_context *ctx, size_t size) {
    if (ctx->libc) { /* fresh pages are zero already: calloc knows */
        void *zeroed = calloc(1, size ? size : 1);
        if (!zeroed)
            rg_fail_memory(ctx);
        return zeroed;
    }
    void *p = ctx->allocator.resize(ctx->allocator.user, NULL, 0, size ? size : 1);
    if (p)
        memset(p, 0, size);
    else
        rg_fail_memory(ctx);
    return p;
}

void rg_ctx_free(rg_context *ctx, void *p, size_t size) {
    if (p)
        ctx->allocator.resize(ctx->allocator.user, p, size ? size : 1, 0);
}

char *rg_ctx_strdup(rg_context *ctx, const char *s) {
    size_t n = strlen(s) + 1;
    char *copy = rg_ctx_alloc(ctx, n);
    if (copy)
        memcpy(copy, s, n);
    return copy;
}

void rg_ctx_strfree(rg_context *ctx, char *s) {
    if (s)
        rg_ctx_free(ctx, s, strlen(s) + 1);
}

/* The size stands before the text: rg_free is not told it. */
typedef union gift {
    size_t size;
    max_align_t align;
} gift;

char *rg_ctx_gift(rg_context *ctx, const char *s) {
    size_t n = strlen(s) + 1;
    gift *g = rg_ctx_alloc(ctx, sizeof *g + n);
    if (!g)
        return NULL;
    g->size = sizeof *g + n;
    return memcpy(g + 1, s, n);
}

char *rg_ctx_gift_bytes(rg_context *ctx, const void *from, size_t n) {
    gift *g = rg_ctx_alloc(ctx, sizeof *g + n + 1); /* zeroed: a text ends there */
    if (!g)
        return NULL;
    g->size = sizeof *g + n + 1;
    return n ? memcpy(g + 1, from, n) : (void *)(g + 1);
}

void rg_free(rg_context *ctx, void *p) {
    if (!p || !ctx)
        return;
    gift *g = (gift *)p - 1;
    rg_ctx_free(ctx, g, g->size);
}

/* ---- messages ---- */

rg_status rg_fail(rg_context *ctx, rg_status s, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    size_t need = n < 0 ? 1 : (size_t)n + 1;
    char *at = ctx->message;
    if (need > ctx->message_size) {
        /* The arguments may point into the old message: it goes only after printing. */
        at = ctx->allocator.resize(ctx->allocator.user, NULL, 0, need);
        if (!at) { /* the first part of the words is better than none */
            at = ctx->message;
            need = ctx->message_size;
        }
    }
    char small[sizeof ctx->small];
    char *to = at == ctx->message && need <= sizeof small ? small : at;
    va_start(args, fmt);
    vsnprintf(to, need, fmt, args);
    va_end(args);
    if (to == small)
        memcpy(at, small, need);
    if (at != ctx->message) {
        if (ctx->message != ctx->small)
            ctx->allocator.resize(ctx->allocator.user, ctx->message, ctx->message_size, 0);
        ctx->message = at;
        ctx->message_size = need;
    }
    return s;
}

rg_status rg_fail_memory(rg_context *ctx) {
    return rg_fail(ctx, RG_ERROR_MEMORY, "out of memory");
}

rg_status rg_fail_thrown(rg_context *ctx, const rg_arena *a, int code) {
    if (code == RG_THROW_MEMORY)
        return rg_fail_memory(ctx);
    const char *words = rg_arena_message(a);
    return rg_fail(ctx, RG_ERROR_INTERNAL, "internal error: %s (please report this)",
                   words && *words ? words : "no words");
}

/* ---- handles ---- */

void *rg_handle_new(rg_context *ctx, size_t size, rg_magic magic) {
    rg_handle *h = rg_ctx_alloc(ctx, size);
    if (!h)
        return NULL;
    h->magic = (uint32_t)magic;
    h->refs = 1;
    h->size = size;
    return h;
}

void rg_handle_free(rg_context *ctx, rg_handle *h) {
#ifdef RG_DEBUG_VERIFY
    h->released = true;
    h->next_dead = ctx->dead;
    ctx->dead = h;
#else
    h->magic = 0;
    rg_ctx_free(ctx, h, h->size);
#endif
}

const char *rg_handle_fault(const rg_handle *h, rg_magic magic) {
    if (!h)
        return "null";
    if (h->magic != (uint32_t)magic)
        return "not a handle of this kind, or freed";
    if (h->released)
        return "already released";
    return NULL;
}

/* ---- contexts ---- */

static char *join(rg_context *ctx, const char *a, const char *b) {
    size_t n = strlen(a) + strlen(b) + 1;
    char *s = rg_ctx_alloc(ctx, n);
    if (s)
        snprintf(s, n, "%s%s", a, b);
    return s;
}

/* False when out of memory. */
static bool choose_cache(rg_context *ctx, const char *given) {
    const char *env = getenv("RETROGRAD_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    const char *base = given ? given : env, *rest = "";
    if (!base && xdg && xdg[0] == '/') {
        base = xdg;
        rest = "/retrograd";
    } else if (!base && home && home[0] == '/') {
        base = home;
        rest = "/.cache/retrograd";
    }
    if (!base || !*base)
        return true;
    ctx->cache_dir = join(ctx, base, rest);
    return ctx->cache_dir != NULL;
}

rg_status rg_context_new(const rg_context_options *o, rg_context **out) {
    if (!out)
        return RG_ERROR_ARGUMENT;
    *out = NULL;
    if (o && o->size < sizeof *o)
        return RG_ERROR_ARGUMENT;
    rg_allocator al = {libc_resize, NULL};
    bool libc = true;
    if (o && o->resize) {
        al = (rg_allocator){o->resize, o->user};
        libc = false;
    }
    rg_context *ctx = al.resize(al.user, NULL, 0, sizeof *ctx);
    if (!ctx)
        return RG_ERROR_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->handle = (rg_handle){RG_MAGIC_CONTEXT, 1, false, sizeof *ctx, NULL};
    ctx->allocator = al;
    ctx->libc = libc;
    ctx->message = ctx->small;
    ctx->message_size = sizeof ctx->small;
    if (!choose_cache(ctx, o ? o->cache_dir : NULL)) {
        rg_context_drop(ctx);
        return RG_ERROR_MEMORY;
    }
    *out = ctx;
    return RG_OK;
}

void rg_context_retain(rg_context *ctx) {
    ctx->handle.refs++;
}

void rg_context_drop(rg_context *ctx) {
    if (--ctx->handle.refs)
        return;
    while (ctx->dead) {
        rg_handle *h = ctx->dead;
        ctx->dead = h->next_dead;
        rg_ctx_free(ctx, h, h->size);
    }
    rg_ctx_strfree(ctx, ctx->cache_dir);
    rg_allocator al = ctx->allocator;
    if (ctx->message != ctx->small)
        al.resize(al.user, ctx->message, ctx->message_size, 0);
    ctx->handle.magic = 0;
    al.resize(al.user, ctx, sizeof *ctx, 0);
}

void rg_context_release(rg_context *ctx) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return;
    ctx->handle.released = true;
    rg_context_drop(ctx);
}

const char *rg_context_message(const rg_context *ctx) {
    return ctx ? ctx->message : "";
}
