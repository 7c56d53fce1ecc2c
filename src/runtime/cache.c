#include "runtime/cache.h"

#include "compile/key.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* 16 bytes of magic and version, 8 of length, 32 of checksum. */
enum { TRAILER = 56 };
static const char MAGIC[17] = "retrograd-cache1";

static bool make_folders(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EISDIR || errno == EROFS ||
                  errno == EACCES;
        *p = '/';
        if (!ok)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool rg_cache_open(rg_context *ctx, rg_arena *a, const char **why) {
    const char *unused;
    if (!why)
        why = &unused;
    if (!ctx->cache_dir) {
        *why = "no cache folder is set";
        return false;
    }
    struct stat st;
    if (stat(ctx->cache_dir, &st) != 0 && !make_folders(rg_strdup(a, ctx->cache_dir))) {
        *why = rg_format(a, "cannot make the folder '%s': %s", ctx->cache_dir, strerror(errno));
        return false;
    }
    if (stat(ctx->cache_dir, &st) != 0 || !S_ISDIR(st.st_mode))
        *why = rg_format(a, "'%s' is not a folder", ctx->cache_dir);
    else if (st.st_uid != geteuid())
        *why = rg_format(a, "the folder '%s' belongs to another user", ctx->cache_dir);
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        *why = rg_format(a, "others may write to the folder '%s' (chmod 700 makes it private)",
                         ctx->cache_dir);
    else if (access(ctx->cache_dir, R_OK | W_OK | X_OK) != 0)
        *why = rg_format(a, "the folder '%s' cannot be written to", ctx->cache_dir);
    else
        return true;
    return false;
}

const char *rg_cache_path(rg_context *ctx, rg_arena *a, const char *hex) {
    return ctx->cache_dir ? rg_format(a, "%s/%s.so", ctx->cache_dir, hex) : NULL;
}

static bool read_full(int fd, void *to, size_t n) {
    unsigned char *p = to;
    while (n) {
        ssize_t k = read(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* Checksum of the next n bytes of fd. */
static bool sum_file(int fd, uint64_t n, unsigned char sum[32]) {
    rg_sha256 h;
    rg_sha256_begin(&h);
    unsigned char buffer[16384];
    while (n) {
        size_t k = n < sizeof buffer ? (size_t)n : sizeof buffer;
        if (!read_full(fd, buffer, k))
            return false;
        rg_sha256_add(&h, buffer, k);
        n -= k;
    }
    rg_sha256_end(&h, sum);
    return true;
}

static void trailer_make(unsigned char t[TRAILER], uint64_t size, const unsigned char sum[32]) {
    memcpy(t, MAGIC, 16);
    for (int i = 0; i < 8; i++)
        t[16 + i] = (unsigned char)(size >> (8 * i));
    memcpy(t + 24, sum, 32);
}

bool rg_cache_good(rg_context *ctx, const char *path) {
    (void)ctx;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    bool good = false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        st.st_size > TRAILER) {
        uint64_t size = (uint64_t)st.st_size - TRAILER;
        unsigned char sum[32], want[TRAILER], got[TRAILER];
        if (sum_file(fd, size, sum) && read_full(fd, got, sizeof got)) {
            trailer_make(want, size, sum);
            good = memcmp(want, got, TRAILER) == 0;
        }
    }
    close(fd);
    if (!good)
        unlink(path);
    return good;
}

bool rg_cache_keep(rg_context *ctx, const char *from, const char *path) {
    (void)ctx;
    int fd = open(from, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    unsigned char sum[32], t[TRAILER];
    bool ok = fstat(fd, &st) == 0 && sum_file(fd, (uint64_t)st.st_size, sum);
    if (ok) {
        trailer_make(t, (uint64_t)st.st_size, sum);
        ok = lseek(fd, 0, SEEK_END) >= 0 && write(fd, t, TRAILER) == TRAILER;
    }
    if (close(fd) != 0)
        ok = false;
    return ok && rename(from, path) == 0;
}

/* ---- data ---- */

/* Opens an arena for the paths; NULL when there is no cache. */
static const char *data_path(rg_context *ctx, rg_arena *a, const char *hex) {
    return rg_cache_open(ctx, a, NULL) ? rg_format(a, "%s/%s.bin", ctx->cache_dir, hex) : NULL;
}

static bool load_file(rg_context *ctx, const char *path, void **data, size_t *size) {
    if (!rg_cache_good(ctx, path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && st.st_size > TRAILER;
    size_t n = ok ? (size_t)st.st_size - TRAILER : 0;
    void *at = ok ? rg_ctx_alloc(ctx, n) : NULL;
    ok = at && read_full(fd, at, n);
    close(fd);
    if (!ok) {
        rg_ctx_free(ctx, at, n);
        return false;
    }
    *data = at;
    *size = n;
    return true;
}

bool rg_cache_load(rg_context *ctx, const char *hex, void **data, size_t *size) {
    *data = NULL;
    *size = 0;
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!a)
        return false;
    volatile bool ok = false;
    if (!RG_GUARD(a)) {
        const char *path = data_path(ctx, a, hex);
        ok = path && load_file(ctx, path, data, size);
    }
    rg_arena_free(a);
    return ok;
}

static bool write_full(int fd, const void *from, size_t n) {
    const unsigned char *p = from;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

bool rg_cache_store(rg_context *ctx, const char *hex, const void *data, size_t size) {
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!a)
        return false;
    volatile bool ok = false;
    if (!RG_GUARD(a)) {
        const char *path = data_path(ctx, a, hex);
        char *from = path ? rg_format(a, "%s.%ld.part", path, (long)getpid()) : NULL;
        int fd = from ? open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
        if (fd < 0 && from && errno == EEXIST)
            unlink(from); /* left by a process of that number which was killed */
        if (fd >= 0) {
            ok = write_full(fd, data, size);
            ok = close(fd) == 0 && ok && rg_cache_keep(ctx, from, path);
            if (!ok)
                unlink(from);
        }
    }
    rg_arena_free(a);
    return ok;
}

/* ---- the public part ---- */

static bool is_entry(const char *name) {
    return strlen(name) > 64 && strspn(name, "0123456789abcdef") == 64 &&
           (strcmp(name + 64, ".so") == 0 || strcmp(name + 64, ".bin") == 0);
}

/* A folder that a compilation left behind, by being killed. */
static bool is_left_over(const char *name, const struct stat *st, time_t now) {
    return strncmp(name, "tmp-", 4) == 0 && strlen(name) == 10 && S_ISDIR(st->st_mode) &&
           now - st->st_mtime > 3600;
}

static void remove_left_over(rg_arena *a, const char *path) {
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    (void)a;
    rmdir(path);
}

/* Visits the entries; with `clear`, removes them (and what killed compilations left). */
static rg_status visit(rg_context *ctx, bool clear, uint64_t *entries, uint64_t *bytes) {
    *entries = *bytes = 0;
    if (!ctx->cache_dir)
        return RG_OK;
    struct stat st;
    if (stat(ctx->cache_dir, &st) != 0 && errno == ENOENT)
        return RG_OK;
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!a)
        return rg_fail_memory(ctx);
    DIR *volatile d = NULL;
    rg_status status = RG_OK;
    int thrown = RG_GUARD(a);
    if (thrown) {
        status = rg_fail_thrown(ctx, a, thrown);
    } else {
        const char *why;
        if (!rg_cache_open(ctx, a, &why))
            status = rg_fail(ctx, RG_ERROR_FILE, "the cache is not used: %s", why);
        else if (!(d = opendir(ctx->cache_dir)))
            status = rg_fail(ctx, RG_ERROR_FILE, "cannot read the folder '%s': %s", ctx->cache_dir,
                             strerror(errno));
        for (struct dirent *e; d && (e = readdir(d));) {
            if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
                continue;
            if (is_entry(e->d_name) && S_ISREG(st.st_mode)) {
                if (clear && unlinkat(dirfd(d), e->d_name, 0) != 0)
                    continue;
                ++*entries;
                *bytes += (uint64_t)st.st_size;
            } else if (clear && is_left_over(e->d_name, &st, time(NULL))) {
                remove_left_over(a, rg_format(a, "%s/%s", ctx->cache_dir, e->d_name));
            }
        }
    }
    if (d)
        closedir(d);
    rg_arena_free(a);
    return status;
}

rg_status rg_cache_describe(rg_context *ctx, rg_cache_info *out) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    if (!out || out->size < sizeof *out)
        return rg_fail(ctx, RG_ERROR_ARGUMENT,
                       "rg_cache_describe: out is null or its size not set");
    size_t size = out->size;
    memset(out, 0, sizeof *out);
    out->size = size;
    snprintf(out->path, sizeof out->path, "%s", ctx->cache_dir ? ctx->cache_dir : "");
    return visit(ctx, false, &out->entries, &out->bytes);
}

rg_status rg_cache_clear(rg_context *ctx, uint64_t *removed) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    uint64_t entries, bytes;
    rg_status s = visit(ctx, true, &entries, &bytes);
    if (removed)
        *removed = entries;
    return s;
}
