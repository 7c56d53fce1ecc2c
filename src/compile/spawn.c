/* The program's three streams are unlinked temporary files: nothing can block on a full pipe, and a
 * program that does not read its input raises no SIGPIPE in this process. */
#include "compile/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void rg_words_add(rg_arena *a, rg_words *w, const char *word) {
    RG_PUSH(a, &w->list, word);
}

void rg_words_split(rg_arena *a, rg_words *w, const char *command) {
    const char *p = command;
    for (;;) {
        while (*p == ' ' || *p == '\t' || *p == '\n')
            p++;
        if (!*p)
            return;
        rg_text t = {.arena = a};
        rg_text_add(&t, "");
        char quote = 0;
        for (; *p && (quote || (*p != ' ' && *p != '\t' && *p != '\n')); p++) {
            if (quote == *p) {
                quote = 0;
            } else if (!quote && (*p == '\'' || *p == '"')) {
                quote = *p;
            } else {
                if (*p == '\\' && quote != '\'' && p[1])
                    p++;
                rg_text_char(&t, *p);
            }
        }
        rg_words_add(a, w, rg_text_str(&t));
    }
}

static const char *temp_dir(void) {
    const char *t = getenv("TMPDIR");
    return t && *t && access(t, W_OK | X_OK) == 0 ? t : "/tmp"; /* as gcc does */
}

const char *rg_temp_folder(rg_arena *a, const char *dir) {
    char *path = rg_format(a, "%s/tmp-XXXXXX", dir ? dir : temp_dir());
    return mkdtemp(path);
}

/* Open, nameless, closed on exec; -1: errno. */
static int temp_file(char *path) {
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static bool write_all(int fd, const char *at, size_t n) {
    while (n) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        at += k;
        n -= (size_t)k;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

/* pread: the child shares the file's position. */
static void read_all(int fd, rg_text *out) {
    char buffer[4096];
    off_t at = 0;
    for (;;) {
        ssize_t k = pread(fd, buffer, sizeof buffer, at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return;
        rg_text_add_n(out, buffer, (size_t)k);
        at += k;
    }
}

static void close_all(const int fd[3]) {
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

void rg_spawn(rg_arena *a, rg_words *words, const char *in, size_t in_size, rg_spawned *result) {
    memset(result, 0, sizeof *result);
    result->out.arena = result->err.arena = a;
    result->status = -1;
    char **argv = RG_NEW_N(a, char *, words->list.n + 1);
    for (uint32_t i = 0; i < words->list.n; i++)
        argv[i] = rg_strdup(a, words->list.at[i]);
    if (!argv[0]) {
        result->error = ENOENT;
        return;
    }
    char *path[3]; /* made first: an allocation may throw */
    for (int i = 0; i < 3; i++)
        path[i] = rg_format(a, "%s/retrograd-XXXXXX", temp_dir());
    int fd[3];
    for (int i = 0; i < 3; i++)
        fd[i] = temp_file(path[i]);
    if (fd[0] < 0 || fd[1] < 0 || fd[2] < 0 || !write_all(fd[0], in, in_size)) {
        result->error = errno ? errno : EIO;
        close_all(fd);
        return;
    }
    pid_t pid;
    posix_spawn_file_actions_t actions;
    int e = posix_spawn_file_actions_init(&actions);
    if (!e) {
        for (int i = 0; i < 3 && !e; i++)
            e = posix_spawn_file_actions_adddup2(&actions, fd[i], i);
        if (!e)
            e = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (e) {
        result->error = e;
        close_all(fd);
        return;
    }
    int status = 0;
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got == pid)
        result->status = WIFEXITED(status)     ? WEXITSTATUS(status)
                         : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                               : -1;
    /* rg_text may throw when memory is out: the descriptors must not leak then, so the files are
     * read through a guard of their own. */
    jmp_buf outer;
    memcpy(&outer, rg_arena_guard(a), sizeof outer);
    volatile int thrown = RG_GUARD(a);
    if (!thrown) {
        read_all(fd[1], &result->out);
        read_all(fd[2], &result->err);
    }
    close_all(fd);
    memcpy(rg_arena_guard(a), &outer, sizeof outer);
    if (thrown)
        rg_arena_throw(a, thrown);
}

const char *rg_spawn_find(rg_arena *a, const char *program) {
    if (strchr(program, '/'))
        return access(program, X_OK) == 0 ? program : NULL;
    const char *p = getenv("PATH");
    if (!p || !*p)
        p = "/usr/bin:/bin";
    for (;;) {
        size_t n = strcspn(p, ":");
        const char *path = n ? rg_format(a, "%.*s/%s", (int)n, p, program) : program;
        struct stat st;
        if (access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return path;
        if (!p[n])
            return NULL;
        p += n + 1;
    }
}
