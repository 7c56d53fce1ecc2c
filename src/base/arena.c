#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    size_t size; /* of data */
    size_t used;
    max_align_t data[];
} block;

struct rg_arena {
    rg_allocator alloc;
    block *head;
    size_t bytes;
    jmp_buf guard;
    char message[512];
};

enum { FIRST_BLOCK = 16 * 1024, MAX_BLOCK = 1024 * 1024 };

static void *libc_resize(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

rg_arena *rg_arena_new(const rg_allocator *allocator) {
    rg_allocator al = {libc_resize, NULL};
    if (allocator && allocator->resize)
        al = *allocator;
    rg_arena *a = al.resize(al.user, NULL, 0, sizeof *a);
    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    a->alloc = al;
    a->bytes = sizeof *a;
    return a;
}

void rg_arena_free(rg_arena *a) {
    if (!a)
        return;
    rg_allocator al = a->alloc;
    for (block *b = a->head, *next; b; b = next) {
        next = b->next;
        al.resize(al.user, b, sizeof *b + b->size, 0);
    }
    al.resize(al.user, a, sizeof *a, 0);
}

static bool add_block(rg_arena *a, size_t need) {
    size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK;
    if (size > MAX_BLOCK)
        size = MAX_BLOCK;
    if (size < need)
        size = need;
    block *b = a->alloc.resize(a->alloc.user, NULL, 0, sizeof *b + size);
    if (!b)
        return false;
    b->size = size;
    b->used = 0;
    b->next = a->head;
    a->head = b;
    a->bytes += sizeof *b + size;
    return true;
}

void *rg_alloc(rg_arena *a, size_t size) {
    if (size > SIZE_MAX / 4)
        rg_arena_throw(a, RG_THROW_MEMORY);
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!a->head || a->head->size - a->head->used < size)
        if (!add_block(a, size))
            rg_arena_throw(a, RG_THROW_MEMORY);
    void *p = (char *)a->head->data + a->head->used;
    a->head->used += size;
    memset(p, 0, size);
    return p;
}

void *rg_grow(rg_arena *a, const void *old, size_t old_size, size_t size) {
    void *p = rg_alloc(a, size);
    if (old_size)
        memcpy(p, old, old_size < size ? old_size : size);
    return p;
}

char *rg_strndup(rg_arena *a, const char *s, size_t n) {
    char *p = rg_alloc(a, n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

char *rg_strdup(rg_arena *a, const char *s) {
    return rg_strndup(a, s, strlen(s));
}

char *rg_format(rg_arena *a, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = rg_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    if (n > 0)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

size_t rg_arena_bytes(const rg_arena *a) {
    return a->bytes;
}

jmp_buf *rg_arena_guard(rg_arena *a) {
    return &a->guard;
}

_Noreturn void rg_arena_throw(rg_arena *a, int code) {
    longjmp(a->guard, code);
}

_Noreturn void rg_bug(rg_arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->message, sizeof a->message, fmt, ap);
    va_end(ap);
    longjmp(a->guard, RG_THROW_INTERNAL);
}

const char *rg_arena_message(const rg_arena *a) {
    return a->message;
}
