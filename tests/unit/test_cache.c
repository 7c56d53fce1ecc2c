/* The cache of compiled kernels: its folder, entries, damage, several processes; the C compiler's
 * run behind it; SHA-256 and the splitting of command lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/key.h"
#include "compile/spawn.h"
#include "runtime/cache.h"
#include "runtime/cc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[64];

static rg_context *context(const char *dir) {
    rg_context_options o = {.size = sizeof o, .cache_dir = dir};
    rg_context *ctx;
    assert_int_equal(rg_context_new(&o, &ctx), RG_OK);
    return ctx;
}

static uint64_t entries(rg_context *ctx) {
    rg_cache_info info = {.size = sizeof info};
    assert_int_equal(rg_cache_describe(ctx, &info), RG_OK);
    return info.entries;
}

/* Compiles a function that gives `value`, through the cache, and calls it. */
static int answer(rg_context *ctx, int value, const char *cflags) {
    rg_device_options o = {.size = sizeof o, .threads = 1, .cflags = cflags ? cflags : ""};
    rg_device *dev;
    assert_int_equal(rg_device_open(ctx, "cpu", &o, &dev), RG_OK);
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    assert_int_equal(RG_GUARD(a), 0);
    char text[100];
    snprintf(text, sizeof text, "int answer(void) { return %d; }\n", value);
    void *handle;
    if (rg_cc_load(dev, a, text, strlen(text), &handle) != RG_OK)
        fail_msg("%s", rg_context_message(ctx));
    void *symbol = dlsym(handle, "answer");
    assert_non_null(symbol);
    int (*f)(void);
    memcpy(&f, &symbol, sizeof f);
    int got = f();
    dlclose(handle);
    rg_arena_free(a);
    rg_device_release(dev);
    return got;
}

static void sha256(void **state) {
    (void)state;
    static const struct {
        const char *text, *hex;
    } cases[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                 {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < 3; i++) {
        rg_sha256 h;
        unsigned char sum[32];
        char hex[65];
        rg_sha256_begin(&h);
        for (const char *p = cases[i].text; *p; p++)
            rg_sha256_add(&h, p, 1);
        rg_sha256_end(&h, sum);
        rg_sha256_hex(sum, hex);
        assert_string_equal(hex, cases[i].hex);
    }
    rg_sha256 h;
    unsigned char sum[32];
    char hex[65], block[1000];
    memset(block, 'a', sizeof block);
    rg_sha256_begin(&h);
    for (int i = 0; i < 1000; i++)
        rg_sha256_add(&h, block, sizeof block);
    rg_sha256_end(&h, sum);
    rg_sha256_hex(sum, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void words(void **state) {
    (void)state;
    rg_arena *a = rg_arena_new(NULL);
    assert_int_equal(RG_GUARD(a), 0);
    rg_words w = {.list = {0}};
    rg_words_split(a, &w, "  gcc '-DA=b c' -D\"x y\"z a\\ b '' ");
    assert_int_equal(w.list.n, 5);
    assert_string_equal(w.list.at[0], "gcc");
    assert_string_equal(w.list.at[1], "-DA=b c");
    assert_string_equal(w.list.at[2], "-Dx yz");
    assert_string_equal(w.list.at[3], "a b");
    assert_string_equal(w.list.at[4], "");
    rg_words cat = {.list = {0}};
    rg_words_split(a, &cat, "cat");
    rg_spawned r;
    rg_spawn(a, &cat, "hello\n", 6, &r);
    assert_int_equal(r.error, 0);
    assert_int_equal(r.status, 0);
    assert_string_equal(rg_text_str(&r.out), "hello\n");
    rg_words none = {.list = {0}};
    rg_words_split(a, &none, "/nowhere/at-all");
    rg_spawn(a, &none, "", 0, &r);
    assert_true(r.error != 0 || r.status == 127);
    rg_arena_free(a);
}

static void warm_and_cold(void **state) {
    (void)state;
    char dir[100];
    snprintf(dir, sizeof dir, "%s/deep/er/warm", base);
    rg_context *ctx = context(dir);
    assert_int_equal(entries(ctx), 0);
    assert_int_equal(answer(ctx, 41, NULL), 41);
    assert_int_equal(entries(ctx), 1);
    struct stat st;
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(answer(ctx, 41, NULL), 41);
    assert_int_equal(entries(ctx), 1);
    assert_int_equal(answer(ctx, 41, "-DOTHER"), 41); /* flags are part of the key */
    assert_int_equal(answer(ctx, 42, NULL), 42);
    assert_int_equal(entries(ctx), 3);
    uint64_t removed;
    assert_int_equal(rg_cache_clear(ctx, &removed), RG_OK);
    assert_int_equal(removed, 3);
    assert_int_equal(entries(ctx), 0);
    rg_context_release(ctx);
}

/* Calls fn on the path of each entry in dir. */
static int each_entry(const char *dir, void (*fn)(const char *path)) {
    char command[200], path[300];
    snprintf(command, sizeof command, "ls %s/*.so", dir);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    int n = 0;
    while (fgets(path, sizeof path, f)) {
        path[strcspn(path, "\n")] = 0;
        fn(path);
        n++;
    }
    pclose(f);
    return n;
}

static void flip(const char *path) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, 200, SEEK_SET);
    int c = fgetc(f);
    fseek(f, 200, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
}

static void truncate_half(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size / 2), 0);
}

static void empty(const char *path) {
    assert_int_equal(truncate(path, 0), 0);
}

static void damaged(void **state) {
    (void)state;
    char dir[100];
    snprintf(dir, sizeof dir, "%s/damaged", base);
    rg_context *ctx = context(dir);
    void (*const harm[])(const char *) = {flip, truncate_half, empty};
    assert_int_equal(answer(ctx, 7, NULL), 7);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(each_entry(dir, harm[i]), 1);
        assert_int_equal(answer(ctx, 7, NULL), 7);
        assert_int_equal(entries(ctx), 1);
    }
    rg_context_release(ctx);
}

static void refused_folder(void **state) {
    (void)state;
    char dir[100];
    snprintf(dir, sizeof dir, "%s/open", base);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(chmod(dir, 0777), 0);
    rg_context *ctx = context(dir);
    assert_int_equal(answer(ctx, 9, NULL), 9); /* works, uncached */
    rg_cache_info info = {.size = sizeof info};
    assert_int_equal(rg_cache_describe(ctx, &info), RG_ERROR_FILE);
    assert_non_null(strstr(rg_context_message(ctx), "others may write"));
    assert_int_equal(chmod(dir, 0700), 0);
    assert_int_equal(entries(ctx), 0);
    rg_context_release(ctx);

    char file[100];
    snprintf(file, sizeof file, "%s/file", base);
    FILE *f = fopen(file, "w");
    fclose(f);
    ctx = context(file);
    assert_int_equal(answer(ctx, 10, NULL), 10);
    rg_context_release(ctx);

    ctx = context("");
    assert_int_equal(answer(ctx, 11, NULL), 11);
    assert_int_equal(entries(ctx), 0);
    rg_context_release(ctx);
}

static void several_processes(void **state) {
    (void)state;
    char dir[100];
    snprintf(dir, sizeof dir, "%s/several", base);
    pid_t child[4];
    for (int i = 0; i < 4; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            rg_context *ctx = context(dir);
            int ok = answer(ctx, 5, NULL) == 5 && answer(ctx, 6, NULL) == 6;
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    rg_context *ctx = context(dir);
    assert_int_equal(entries(ctx), 2);
    rg_context_release(ctx);
}

static void no_compiler(void **state) {
    (void)state;
    char dir[100];
    snprintf(dir, sizeof dir, "%s/none", base);
    rg_context *ctx = context(dir);
    rg_device_options o = {.size = sizeof o, .cc = "/nowhere/cc"};
    rg_device *dev;
    assert_int_equal(rg_device_open(ctx, "cpu", &o, &dev), RG_OK);
    rg_arena *a = rg_arena_new(NULL);
    assert_int_equal(RG_GUARD(a), 0);
    void *handle;
    assert_int_equal(rg_cc_load(dev, a, "int x;", 6, &handle), RG_ERROR_COMPILER);
    assert_non_null(strstr(rg_context_message(ctx), "install gcc or clang"));
    rg_device_release(dev);
    o.cc = "cc";
    assert_int_equal(rg_device_open(ctx, "cpu", &o, &dev), RG_OK);
    assert_int_equal(rg_cc_load(dev, a, "int x = ;", 9, &handle), RG_ERROR_COMPILER);
    assert_non_null(strstr(rg_context_message(ctx), "failed with status 1"));
    assert_int_equal(entries(ctx), 0);
    rg_device_release(dev);
    rg_arena_free(a);
    rg_context_release(ctx);
}

int main(void) {
    snprintf(base, sizeof base, "/tmp/retrograd-test-XXXXXX");
    if (!mkdtemp(base))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256),         cmocka_unit_test(words),
        cmocka_unit_test(warm_and_cold),  cmocka_unit_test(damaged),
        cmocka_unit_test(refused_folder), cmocka_unit_test(several_processes),
        cmocka_unit_test(no_compiler)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command) || failed;
}
