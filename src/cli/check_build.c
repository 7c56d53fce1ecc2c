/* One C file is written that includes the kernel file and adds, for each kernel, a function over
 * void pointers. `#define float double` reaches everything but the system's headers: <math.h> is
 * wrapped so that its own declarations are read before, and sinf and its like become sin after.
 * Float constants keep their float value: the function is the same, its arithmetic is finer. */
#include "check_build.h"

#include "dtype.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

extern char **environ;

static const char *const maths[] = {
    "acos",  "asin",  "atan",      "atan2",  "cos",      "sin",    "tan",       "acosh",  "asinh",
    "atanh", "cosh",  "sinh",      "tanh",   "exp",      "exp2",   "expm1",     "frexp",  "ilogb",
    "ldexp", "log",   "log10",     "log1p",  "log2",     "logb",   "modf",      "scalbn", "scalbln",
    "cbrt",  "fabs",  "hypot",     "pow",    "sqrt",     "erf",    "erfc",      "lgamma", "tgamma",
    "ceil",  "floor", "nearbyint", "rint",   "lrint",    "llrint", "round",     "lround", "llround",
    "trunc", "fmod",  "remainder", "remquo", "copysign", "nan",    "nextafter", "fdim",   "fmax",
    "fmin",  "fma",   "sincos",    "exp10",  NULL};

static const char half_header[] = "#pragma once\n"
                                  "#ifndef rg_half\n"
                                  "#define rg_half _Float16\n"
                                  "#endif\n";

static const char *const scratch_files[] = {
    "check.c", "check.so", "log", "math.h", "tgmath.h", "rg_half.h", "retrograd_kernel.h", NULL};

static FILE *create(const rg_check_build *b, const char *name) {
    return fopen(rg_cli_format("%s/%s", b->dir, name), "w");
}

static bool write_file(const rg_check_build *b, const char *name, const char *text) {
    FILE *f = create(b, name);
    bool ok = f && fputs(text, f) >= 0;
    if (f && fclose(f) != 0)
        ok = false;
    return ok;
}

static bool write_headers(const rg_check_build *b) {
    bool ok = write_file(b, "rg_half.h", half_header) &&
              write_file(b, "retrograd_kernel.h", "#include \"rg_half.h\"\n");
    if (!ok || !b->as_double)
        return ok;
    FILE *f = create(b, "math.h");
    if (!f)
        return false;
    fputs("#undef float\n#undef _Float16\n#include_next <math.h>\n"
          "#define float double\n#define _Float16 double\n",
          f);
    for (size_t i = 0; maths[i]; i++)
        fprintf(f,
                "#undef %sf\n#define %sf %s\n#undef __builtin_%sf\n"
                "#define __builtin_%sf __builtin_%s\n",
                maths[i], maths[i], maths[i], maths[i], maths[i], maths[i]);
    /* With float as double every argument is a double, so the plain names are generic enough. */
    return fclose(f) == 0 && write_file(b, "tgmath.h", "#include <math.h>\n");
}

/* rg_stop in differences: values are kept at the point, and given back at the points around it. */
static const char stop_text[] =
    "static double *rg_check_kept;\n"
    "static unsigned long rg_check_n, rg_check_cap, rg_check_at;\n"
    "static int rg_check_mode, rg_check_bad;\n"
    "__attribute__((unused)) static double rg_check_stop(double v)\n"
    "{\n"
    "    if (rg_check_mode == 1) {\n"
    "        if (rg_check_n == rg_check_cap) {\n"
    "            unsigned long cap = rg_check_cap ? 2 * rg_check_cap : 1024;\n"
    "            double *more = __builtin_realloc(rg_check_kept, cap * sizeof v);\n"
    "            if (!more)\n"
    "                return rg_check_bad = 1, v;\n"
    "            rg_check_kept = more;\n"
    "            rg_check_cap = cap;\n"
    "        }\n"
    "        rg_check_kept[rg_check_n++] = v;\n"
    "    } else if (rg_check_mode == 2) {\n"
    "        if (rg_check_at < rg_check_n)\n"
    "            return rg_check_kept[rg_check_at++];\n"
    "        rg_check_bad = 1;\n"
    "    }\n"
    "    return v;\n"
    "}\n"
    "__attribute__((visibility(\"default\"))) void rg_check_stop_mode(int m)\n"
    "{\n"
    "    rg_check_mode = m;\n"
    "    rg_check_at = 0;\n"
    "    rg_check_bad = 0;\n"
    "    if (m == 1)\n"
    "        rg_check_n = 0;\n"
    "    if (m == 3) {\n"
    "        __builtin_free(rg_check_kept);\n"
    "        rg_check_kept = 0;\n"
    "        rg_check_cap = rg_check_n = 0;\n"
    "    }\n"
    "}\n"
    "__attribute__((visibility(\"default\"))) int rg_check_stop_mismatch(void)\n"
    "{\n"
    "    return rg_check_bad || (rg_check_mode == 2 && rg_check_at != rg_check_n);\n"
    "}\n"
    "#define rg_stop(x) ((__typeof__(x))rg_check_stop((double)(x)))\n";

static bool name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

/* Is the rg_stop at s (in text) being defined, as a macro or a function? */
static bool is_definition(const char *text, const char *s) {
    const char *before = s;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    if (before - text >= 6 && memcmp(before - 6, "define", 6) == 0)
        return true;
    const char *c = s + strlen("rg_stop");
    while (*c == ' ')
        c++;
    if (*c != '(')
        return false;
    int depth = 0;
    for (; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth == 0)
            break;
    }
    if (!*c)
        return false;
    for (c++; *c == ' ' || *c == '\t' || *c == '\n' || *c == '\r'; c++) {
    }
    return *c == '{';
}

/* The file's text, with its own definitions of rg_stop (there for other compilers) out of the way.
 * NULL when it has none, or cannot be read. */
static char *without_stop(const char *path) {
    size_t size;
    char *text = rg_cli_read_file(path, &size);
    bool found = false;
    for (char *s = text; s && (s = strstr(s, "rg_stop")) != NULL; s += 7)
        if ((s == text || !name_char(s[-1])) && !name_char(s[7]) && is_definition(text, s)) {
            memcpy(s, "rg_Stop", 7);
            found = true;
        }
    return found ? text : NULL;
}

/* C's name of a scalar's type in this build. */
static const char *c_type(const rg_check_build *b, rg_dtype t) {
    switch (t) {
    case RG_DTYPE_BOOL:
        return "_Bool";
    case RG_DTYPE_I64:
        return "long long";
    case RG_DTYPE_U64:
        return "unsigned long long";
    case RG_DTYPE_F16:
        return b->as_double ? "double" : "_Float16";
    case RG_DTYPE_F32:
        return b->as_double ? "double" : "float";
    default:
        return rg_cli_dtype_c(t);
    }
}

/* tagged bit i: the i-th struct type met is known by its tag only ("struct vec3"). */
static bool write_source(const rg_check_build *b, const rg_cli_args *a, const char *path,
                         const rg_cli_binding *const *bindings, size_t n, unsigned tagged,
                         unsigned *types) {
    FILE *f = create(b, "check.c");
    const char *seen[16];
    unsigned n_seen = 0;
    if (!f)
        return false;
    if (b->as_double)
        fputs("#define float double\n#define _Float16 double\n#define rg_half double\n", f);
    fputs(stop_text, f);
    char *own = without_stop(a->file);
    if (own)
        fprintf(f, "#line 1 \"%s\"\n%s\n", path, own);
    else
        fprintf(f, "#include \"%s\"\n", path);
    fprintf(f, "#line 1 \"check.c\"\n#undef rg_stop\n");
    for (size_t k = 0; k < n; k++) {
        const rg_cli_binding *kernel = bindings[k];
        const char **type = rg_cli_alloc(kernel->n, sizeof *type);
        for (size_t i = 0; i < kernel->n; i++) {
            const rg_cli_param *p = &kernel->params[i];
            type[i] = p->info.dtype == RG_DTYPE_STRUCT ? p->type : c_type(b, p->info.dtype);
            if (p->info.dtype != RG_DTYPE_STRUCT)
                continue;
            unsigned s = 0;
            while (s < n_seen && strcmp(seen[s], p->type) != 0)
                s++;
            if (s == n_seen && n_seen < 16)
                seen[n_seen++] = p->type;
            if (s < 16 && (tagged >> s & 1))
                type[i] = rg_cli_format("struct %s", p->type);
            fprintf(f,
                    "__attribute__((visibility(\"default\"))) const unsigned long "
                    "rg_check_layout_%s_%zu[] = {sizeof(%s)",
                    kernel->name, i, type[i]);
            for (size_t j = 0; j < p->layout.n; j++)
                fprintf(f, ", __builtin_offsetof(%s, %s)", type[i],
                        p->layout.fields[j].path + (p->layout.fields[j].path[0] == '.'));
            fputs("};\n", f);
        }
        fprintf(f,
                "__attribute__((visibility(\"default\"))) void rg_check_call_%s(void "
                "**rg_check_args)\n{\n    %s(",
                kernel->name, kernel->name);
        for (size_t i = 0; i < kernel->n; i++)
            if (kernel->params[i].info.is_array)
                fprintf(f, "%srg_check_args[%zu]", i ? ", " : "", i);
            else
                fprintf(f, "%s*(%s *)rg_check_args[%zu]", i ? ", " : "", type[i], i);
        fputs(");\n}\n", f);
    }
    *types = n_seen;
    return fclose(f) == 0;
}

/* Runs the compiler; its messages go to DIR/log. Exit status, or -1 when it cannot be started. */
static int compile(const rg_check_build *b, const rg_cli_args *a, const char *folder) {
    const char *cc = getenv("CC");
    size_t n = 0;
    if (!cc || !*cc)
        cc = "cc";
    char *words = rg_cli_strdup(cc);
    char **argv = rg_cli_alloc(strlen(cc) + 2 * (a->defines.n + a->includes.n) + 32, sizeof *argv);
    for (char *w = strtok(words, " \t"); w; w = strtok(NULL, " \t"))
        argv[n++] = w;
    if (!n)
        return -1;
    char *fixed[] = {
        "-w", "-O1", "-g0", "-fPIC", "-shared", "-ffp-contract=off", "-fvisibility=hidden", NULL};
    for (size_t i = 0; fixed[i]; i++)
        argv[n++] = fixed[i];
    argv[n++] = rg_cli_format("-I%s", b->dir);
    argv[n++] = rg_cli_format("-I%s", folder);
    for (size_t i = 0; i < a->includes.n; i++)
        argv[n++] = rg_cli_format("-I%s", a->includes.at[i]);
    for (size_t i = 0; i < a->defines.n; i++)
        argv[n++] = rg_cli_format("-D%s", a->defines.at[i]);
    argv[n++] = "-o";
    argv[n++] = rg_cli_format("%s/check.so", b->dir);
    argv[n++] = rg_cli_format("%s/check.c", b->dir);
    argv[n++] = "-lm";

    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    const char *log = rg_cli_format("%s/log", b->dir);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (!WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

/* First line of the log that speaks of an error. */
static const char *first_error(const rg_check_build *b) {
    size_t size;
    char *log = rg_cli_read_file(rg_cli_format("%s/log", b->dir), &size);
    if (!log)
        return "the C compiler failed";
    char *line = strstr(log, "error:");
    if (!line)
        line = log;
    while (line > log && line[-1] != '\n')
        line--;
    return rg_cli_strndup(line, strcspn(line, "\n"));
}

/* The folder of a path, absolute; and the path, absolute. */
static bool absolute(const char *file, const char **path, const char **folder) {
    char cwd[4096];
    if (file[0] == '/')
        *path = file;
    else if (getcwd(cwd, sizeof cwd))
        *path = rg_cli_format("%s/%s", cwd, file);
    else
        return false;
    *folder = rg_cli_strndup(*path, (size_t)(strrchr(*path, '/') - *path) + 1);
    return strpbrk(*path, "\"\\\n") == NULL;
}

/* At once after loading, so that an interrupted check leaves nothing behind. */
static void remove_folder(const rg_check_build *b) {
    for (size_t i = 0; scratch_files[i]; i++)
        unlink(rg_cli_format("%s/%s", b->dir, scratch_files[i]));
    rmdir(b->dir);
}

void rg_check_build_new(const rg_cli_args *a, const rg_cli_binding *const *bindings, size_t n,
                        bool as_double, rg_check_build *b) {
    const char *tmp = getenv("TMPDIR"), *path, *folder;
    memset(b, 0, sizeof *b);
    b->as_double = as_double;
    if (!absolute(a->file, &path, &folder)) {
        b->why_not = "the file's path has characters that no #include takes";
        return;
    }
    char *dir = rg_cli_format("%s/retrograd-check-XXXXXX",
                              tmp && *tmp && access(tmp, W_OK | X_OK) == 0 ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        b->why_not = rg_cli_format("%s: %s", dir, strerror(errno));
        return;
    }
    b->dir = dir;
    unsigned types = 0;
    int status = 1;
    const char *first = NULL;
    bool written = write_headers(b);
    /* Struct types are named by typedef or by tag: all typedefs, all tags, then mixtures. */
    for (unsigned tagged = 0, tries = 1; written && tagged < tries; tagged++) {
        unsigned mask = tagged == 0 ? 0 : tagged == 1 ? ~0u : tagged - 1;
        written = write_source(b, a, path, bindings, n, mask, &types);
        if (!written)
            break;
        tries = types == 0 ? 1 : types > 3 ? 2 : (1u << types);
        status = compile(b, a, folder);
        if (status <= 0)
            break;
        if (!first)
            first = first_error(b);
    }
    if (!written) {
        b->why_not = rg_cli_format("%s could not be written", b->dir);
    } else if (status < 0) {
        b->no_compiler = true;
        b->why_not = "no C compiler: set CC";
    } else if (status > 0) {
        b->why_not = first;
    } else {
        b->library = dlopen(rg_cli_format("%s/check.so", b->dir), RTLD_NOW | RTLD_LOCAL);
        if (!b->library) {
            const char *why = dlerror();
            b->why_not = rg_cli_strdup(why ? why : "dlopen failed");
            remove_folder(b);
            return;
        }
        void *mode = dlsym(b->library, "rg_check_stop_mode");
        void *mismatch = dlsym(b->library, "rg_check_stop_mismatch");
        memcpy(&b->stop_mode, &mode, sizeof mode); /* ISO C has no cast for it */
        memcpy(&b->stop_mismatch, &mismatch, sizeof mismatch);
        b->ready = mode && mismatch;
    }
    remove_folder(b);
}

void rg_check_build_free(rg_check_build *b) {
    if (b->ready)
        b->stop_mode(RG_CHECK_STOP_FREE);
    if (b->library)
        dlclose(b->library);
    memset(b, 0, sizeof *b);
}

rg_check_call rg_check_build_call(const rg_check_build *b, const char *kernel) {
    rg_check_call call = NULL;
    void *symbol = b->ready ? dlsym(b->library, rg_cli_format("rg_check_call_%s", kernel)) : NULL;
    memcpy(&call, &symbol, sizeof symbol);
    return call;
}

void rg_check_build_layout(const rg_check_build *b, const rg_cli_binding *kernel, size_t i,
                           size_t *item_size, size_t *offsets) {
    const rg_cli_param *p = &kernel->params[i];
    if (p->info.dtype == RG_DTYPE_STRUCT) {
        const unsigned long *l =
            dlsym(b->library, rg_cli_format("rg_check_layout_%s_%zu", kernel->name, i));
        *item_size = l ? l[0] : 0;
        for (size_t j = 0; l && j < p->layout.n; j++)
            offsets[j] = l[j + 1];
        return;
    }
    *item_size =
        b->as_double && rg_cli_dtype_is_float(p->info.dtype) ? sizeof(double) : p->info.item_size;
    offsets[0] = 0;
}

bool rg_check_text_in_float(const char *text) {
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        const char *first = line + strspn(line, " \t");
        char *copy = *first == '#' ? NULL : rg_cli_strndup(line, n);
        if (copy && (rg_cli_mentions(copy, "float") || rg_cli_mentions(copy, "_Float16") ||
                     rg_cli_mentions(copy, "rg_half")))
            return true;
        for (size_t i = 0; copy && maths[i]; i++)
            if (strstr(copy, maths[i]) && rg_cli_mentions(copy, rg_cli_format("%sf", maths[i])))
                return true;
        line += n + (line[n] == '\n');
    }
    return false;
}
