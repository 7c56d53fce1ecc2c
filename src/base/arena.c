/* A list of blocks, the one that is being filled first. Blocks that a child gave back stay with the
 * parent, to be filled again: passes come and go by the hundred, and fresh pages from the system
 * would cost more than what they do. */
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
    rg_arena *parent; /* NULL: a root */
    block *head;
    block *spare; /* of a root: what children gave back */
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

rg_arena *rg_arena_child(rg_arena *parent) {
    rg_arena *a = rg_arena_new(&parent->alloc);
    if (a)
        a->parent = parent->parent ? parent->parent : parent;
    return a;
}

static void free_blocks(const rg_allocator *al, block *b) {
    for (block *next; b; b = next) {
        next = b->next;
        al->resize(al->user, b, sizeof *b + b->size, 0);
    }
}

void rg_arena_free(rg_arena *a) {
    if (!a)
        return;
    rg_allocator al = a->alloc;
    if (a->parent) {
        for (block *b = a->head, *next; b; b = next) {
            next = b->next;
            b->next = a->parent->spare;
            a->parent->spare = b;
        }
    } else {
        free_blocks(&al, a->head);
        free_blocks(&al, a->spare);
    }
    al.resize(al.user, a, sizeof *a, 0);
}

/* The smallest spare block with room for `need`, taken out of the list; NULL: none. */
static block *take_spare(rg_arena *root, size_t need) {
    block **best = NULL;
    for (block **b = &root->spare; *b; b = &(*b)->next)
        if ((*b)->size >= need && (!best || (*b)->size < (*best)->size))
            best = b;
    if (!best)
        return NULL;
    block *b = *best;
    *best = b->next;
    return b;
}

/* A block with room for `need`. */
static block *add_block(rg_arena *a, size_t need) {
    size_t size = a->head ? a->head->size * 2 : FIRST_BLOCK;
    if (size > MAX_BLOCK)
        size = MAX_BLOCK;
    if (size < need)
        size = need;
    block *b = take_spare(a->parent ? a->parent : a, need);
    if (!b) {
        b = a->alloc.resize(a->alloc.user, NULL, 0, sizeof *b + size);
        if (!b)
            rg_arena_throw(a, RG_THROW_MEMORY);
        b->size = size;
        a->bytes += sizeof *b + size;
    }
    b->used = 0;
    /* A large item does not end the block before it: the one with more room is filled on. */
    if (a->head && a->head->size - a->head->used > b->size - need) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    return b;
}

static size_t rounded(size_t size) {
    return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

/* Not yet zeroed. */
static void *take(rg_arena *a, size_t size) {
    if (size > SIZE_MAX / 4)
        rg_arena_throw(a, RG_THROW_MEMORY);
    size = rounded(size);
    block *b = a->head;
    if (!b || b->size - b->used < size)
        b = add_block(a, size);
    void *p = (char *)b->data + b->used;
    b->used += size;
    return p;
}

void *rg_alloc(rg_arena *a, size_t size) {
    void *p = take(a, size);
    memset(p, 0, rounded(size));
    return p;
}

void *rg_grow(rg_arena *a, const void *old, size_t old_size, size_t size) {
    block *b = a->head;
    size_t had = rounded(old_size);
    if (old_size && size > old_size && size <= SIZE_MAX / 4 && b && had <= b->used &&
        (const char *)old == (char *)b->data + b->used - had &&
        rounded(size) - had <= b->size - b->used) { /* the last one: it grows where it is */
        char *p = (char *)b->data + b->used - had;
        b->used += rounded(size) - had;
        memset(p + old_size, 0, rounded(size) - old_size);
        return p;
    }
    char *p = take(a, size);
    size_t kept = old_size < size ? old_size : size;
    if (kept)
        memcpy(p, old, kept);
    memset(p + kept, 0, rounded(size) - kept);
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
