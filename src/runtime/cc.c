/* emitted C + compiler + flags + CPU --SHA-256--> key -> in the cache? -> dlopen
 *                                                        no -> cc -> temporary folder -> cache
 *
 * Where the cache's folder cannot be used the object is made in a private temporary folder, opened,
 * and deleted at once. */
#include "runtime/cc.h"

#include "compile/key.h"
#include "compile/spawn.h"
#include "compile/version.h"
#include "emit/c/cpu_abi.h"
#include "runtime/cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const flags[] = {"-O3",   "-march=native", "-fno-math-errno", "-fopenmp-simd",
                                    "-fPIC", "-shared",       "-std=gnu11",      "-w"};

static void command(rg_device *dev, rg_arena *a, rg_words *w) {
    rg_words_split(a, w, dev->cc);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        rg_words_add(a, w, flags[i]);
    if (dev->options.fast_math)
        rg_words_add(a, w, "-ffast-math");
    rg_words_add(a, w, dev->options.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
    rg_words_split(a, w, dev->cflags);
}

const char *rg_cc_version(rg_arena *a, const char *cc, const char **why) {
    rg_words w = {.list = {0}};
    rg_words_split(a, &w, cc);
    rg_words_add(a, &w, "--version");
    rg_spawned r;
    rg_spawn(a, &w, "", 0, &r);
    if (r.error || r.status != 0) {
        *why = r.error ? rg_format(a, "cannot run '%s': %s", cc, strerror(r.error))
                       : rg_format(a, "'%s --version' failed", cc);
        return NULL;
    }
    return rg_text_str(&r.out);
}

/* What -march=native stands for. */
static void add_cpu(rg_sha256 *h) {
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[4096];
    bool model = false, features = false;
    while (f && !(model && features) && fgets(line, sizeof line, f)) {
        bool is_features = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
        bool is_model = strncmp(line, "model", 5) == 0 || strncmp(line, "CPU part", 8) == 0;
        if (is_features || is_model || strncmp(line, "vendor_id", 9) == 0)
            rg_sha256_add_text(h, line);
        features |= is_features;
        model |= is_model && features;
        if (features && line[0] == '\n')
            break;
    }
    if (f)
        fclose(f);
}

static rg_status make_key(rg_device *dev, rg_arena *a, const rg_words *w, const char *text,
                          size_t size, char hex[65]) {
    rg_sha256 h;
    rg_sha256_begin(&h);
    rg_sha256_add_text(&h, "retrograd " RG_VERSION_TEXT);
    int abi = RG_CPU_ABI;
    rg_sha256_add_part(&h, &abi, sizeof abi);
    for (uint32_t i = 0; i < w->list.n; i++)
        rg_sha256_add_text(&h, w->list.at[i]);
    struct stat st;
    const char *path = rg_spawn_find(a, w->list.at[0]), *why = "";
    if (path && stat(path, &st) == 0) {
        long long facts[3] = {(long long)st.st_mtime, (long long)st.st_size, (long long)st.st_ino};
        rg_sha256_add_text(&h, path);
        rg_sha256_add_part(&h, facts, sizeof facts);
    }
    if (!dev->cc_version) {
        const char *version = rg_cc_version(a, dev->cc, &why);
        if (!version)
            return rg_fail(dev->ctx, RG_ERROR_COMPILER,
                           "%s. The cpu device needs a C compiler: install gcc or clang, name one "
                           "with CC or the device's option cc, or open the device 'ref', which "
                           "needs none",
                           why);
        dev->cc_version = rg_ctx_strdup(dev->ctx, version);
        if (!dev->cc_version)
            return RG_ERROR_MEMORY;
    }
    rg_sha256_add_text(&h, dev->cc_version);
    add_cpu(&h);
    rg_sha256_add_part(&h, text, size);
    unsigned char sum[32];
    rg_sha256_end(&h, sum);
    rg_sha256_hex(sum, hex);
    return RG_OK;
}

static rg_status compile(rg_device *dev, rg_arena *a, rg_words *w, const char *text, size_t size,
                         const char *object) {
    const char *const rest[] = {"-x", "c", "-o", object, "-", "-lm"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        if (strcmp(rest[i], "-lm") == 0) { /* else it would be taken for C text */
            rg_words_add(a, w, "-x");
            rg_words_add(a, w, "none");
        }
        rg_words_add(a, w, rest[i]);
    }
    rg_spawned r;
    rg_spawn(a, w, text, size, &r);
    if (r.error)
        return rg_fail(dev->ctx, RG_ERROR_COMPILER, "cannot run the C compiler '%s': %s", dev->cc,
                       strerror(r.error));
    struct stat st;
    if (r.status > 0 || stat(object, &st) != 0)
        return rg_fail(dev->ctx, RG_ERROR_COMPILER,
                       "the C compiler '%s' failed with status %d on a kernel (are CC and CFLAGS "
                       "right?):\n%.4000s",
                       dev->cc, r.status, rg_text_str(&r.err));
    return RG_OK;
}

static rg_status open_object(rg_device *dev, const char *path, void **handle) {
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return RG_OK;
    const char *why = dlerror();
    return rg_fail(dev->ctx, RG_ERROR_COMPILER, "cannot load a compiled kernel: %s",
                   why ? why : path);
}

rg_status rg_cc_load(rg_device *dev, rg_arena *a, const char *text, size_t size, void **handle) {
    *handle = NULL;
    rg_words w = {.list = {0}};
    command(dev, a, &w);
    char hex[65];
    rg_status s = make_key(dev, a, &w, text, size, hex);
    if (s != RG_OK)
        return s;
    const char *entry = rg_cache_open(dev->ctx, a, NULL) ? rg_cache_path(dev->ctx, a, hex) : NULL;
    if (entry && rg_cache_good(dev->ctx, entry)) {
        if (open_object(dev, entry, handle) == RG_OK)
            return RG_OK;
        unlink(entry); /* whole, but of no use here: make it again */
    }
    const char *folder = rg_temp_folder(a, entry ? dev->ctx->cache_dir : NULL);
    if (!folder && entry) {
        entry = NULL;
        folder = rg_temp_folder(a, NULL);
    }
    if (!folder)
        return rg_fail(dev->ctx, RG_ERROR_FILE, "cannot make a temporary folder: %s",
                       strerror(errno));
    const char *object = rg_format(a, "%s/kernel.so", folder);
    jmp_buf outer; /* a throw must not leave the folder behind */
    memcpy(&outer, rg_arena_guard(a), sizeof outer);
    volatile rg_status result = RG_ERROR_MEMORY;
    volatile int thrown = RG_GUARD(a);
    if (!thrown) {
        result = compile(dev, a, &w, text, size, object);
        if (result == RG_OK && entry && rg_cache_keep(dev->ctx, object, entry))
            result = open_object(dev, entry, handle);
        else if (result == RG_OK)
            result = open_object(dev, object, handle);
    }
    unlink(object);
    rmdir(folder);
    memcpy(rg_arena_guard(a), &outer, sizeof outer);
    if (thrown)
        rg_arena_throw(a, thrown);
    return result;
}
