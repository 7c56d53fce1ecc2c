/* Arena: memory that is freed all at once.
 *
 * Everything between a source text and a finished kernel lives in an arena, so no pass has to
 * free anything and no early exit can leak. Running out of memory (or another condition that
 * cannot be handled where it is found) jumps to the guard that the entry point has set:
 *
 *     rg_arena *a = rg_arena_new(NULL);
 *     if (!a) return RG_ERROR_MEMORY;
 *     if (RG_GUARD(a)) { rg_arena_free(a); return RG_ERROR_MEMORY; }
 */
#ifndef RG_BASE_ARENA_H
#define RG_BASE_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rg_arena rg_arena;

/* Caller's allocator: realloc semantics; size 0 frees. NULL means the C library's. */
typedef struct rg_allocator {
    void *(*resize)(void *user, void *old, size_t old_size, size_t size);
    void *user;
} rg_allocator;

rg_arena *rg_arena_new(const rg_allocator *allocator); /* NULL when out of memory */
/* An arena with a guard of its own for work that ends before the parent does: its memory comes from
 * the parent's allocator and goes to the parent, which uses it again. NULL when out of memory. */
rg_arena *rg_arena_child(rg_arena *parent);
void rg_arena_free(rg_arena *a); /* NULL is fine */

/* Zeroed memory, aligned for any type. Never returns NULL: jumps to the guard instead. */
void *rg_alloc(rg_arena *a, size_t size);
/* old with more room, in its place or a copy (the old one is garbage until the arena goes); new
 * bytes are zero. */
void *rg_grow(rg_arena *a, const void *old, size_t old_size, size_t size);
char *rg_strdup(rg_arena *a, const char *s);
char *rg_strndup(rg_arena *a, const char *s, size_t n);
char *rg_format(rg_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes taken from the allocator so far. */
size_t rg_arena_bytes(const rg_arena *a);

/* The guard: setjmp buffer that rg_arena_throw jumps to with a non-zero code. */
enum { RG_THROW_MEMORY = 1, RG_THROW_INTERNAL = 2, RG_THROW_ERRORS = 3 };
jmp_buf *rg_arena_guard(rg_arena *a);
#define RG_GUARD(a) setjmp(*rg_arena_guard(a))
_Noreturn void rg_arena_throw(rg_arena *a, int code);
/* An internal inconsistency: keeps the message (rg_arena_message) and throws RG_THROW_INTERNAL. */
_Noreturn void rg_bug(rg_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *rg_arena_message(const rg_arena *a);

#define RG_NEW(a, T) ((T *)rg_alloc((a), sizeof(T)))
#define RG_NEW_N(a, T, n) ((T *)rg_alloc((a), (size_t)(n) * sizeof(T)))

/* Growable vector in an arena: struct with fields  T *at; uint32_t n, cap; */
#define RG_VEC(T)                                                                                  \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint32_t n, cap;                                                                           \
    }
#define RG_PUSH(a, v, ...)                                                                         \
    do {                                                                                           \
        if ((v)->n == (v)->cap) {                                                                  \
            uint32_t cap_ = (v)->cap ? (v)->cap * 2u : 8u;                                         \
            (v)->at = rg_grow((a), (v)->at, (v)->cap * sizeof *(v)->at, cap_ * sizeof *(v)->at);   \
            (v)->cap = cap_;                                                                       \
        }                                                                                          \
        (v)->at[(v)->n++] = __VA_ARGS__;                                                           \
    } while (0)

#endif
