#include "base/table.h"

#include <string.h>

struct rg_table_entry {
    const char *key;
    void *value; /* NULL: removed, the key stays as a tombstone */
};

uint64_t rg_hash_bytes(const void *data, size_t n, uint64_t seed) {
    /* FNV-1a with a final avalanche. Source: Fowler, Noll, Vo; finaliser of MurmurHash3. */
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static struct rg_table_entry *find(const rg_table *t, const char *key, size_t n) {
    if (!t->cap)
        return NULL;
    uint32_t mask = t->cap - 1;
    for (uint32_t i = (uint32_t)rg_hash_bytes(key, n, 0) & mask;; i = (i + 1) & mask) {
        struct rg_table_entry *e = &t->slots[i];
        if (!e->key || (strncmp(e->key, key, n) == 0 && e->key[n] == 0))
            return e;
    }
}

void *rg_table_get_n(const rg_table *t, const char *key, size_t n) {
    struct rg_table_entry *e = find(t, key, n);
    return e && e->key ? e->value : NULL;
}

void *rg_table_get(const rg_table *t, const char *key) {
    return rg_table_get_n(t, key, strlen(key));
}

void rg_table_set(rg_table *t, const char *key, void *value) {
    if (t->n * 4 >= t->cap * 3) {
        rg_table old = *t;
        t->cap = old.cap ? old.cap * 2 : 16;
        t->n = 0;
        t->slots = rg_alloc(t->arena, t->cap * sizeof *t->slots);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slots[i].key && old.slots[i].value) {
                *find(t, old.slots[i].key, strlen(old.slots[i].key)) = old.slots[i];
                t->n++;
            }
    }
    struct rg_table_entry *e = find(t, key, strlen(key));
    if (!e->key) {
        if (!value)
            return;
        e->key = rg_strdup(t->arena, key);
        t->n++;
    }
    e->value = value;
}
