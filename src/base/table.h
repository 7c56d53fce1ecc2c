/* Table: string keys to pointers, in an arena. Keys are copied. */
#ifndef RG_BASE_TABLE_H
#define RG_BASE_TABLE_H

#include "base/arena.h"

typedef struct rg_table {
    rg_arena *arena;
    struct rg_table_entry *slots;
    uint32_t n, cap;
} rg_table;

void *rg_table_get(const rg_table *t, const char *key);             /* NULL when absent */
void *rg_table_get_n(const rg_table *t, const char *key, size_t n); /* key of n bytes */
void rg_table_set(rg_table *t, const char *key, void *value);       /* NULL value removes */

uint64_t rg_hash_bytes(const void *data, size_t n, uint64_t seed); /* fast, not secure */

#endif
