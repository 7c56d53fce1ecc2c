/* What MoltenVK's SPIRVToMSLConverter does, through SPIRV-Cross's C interface: the same options of
 * the MSL compiler, and for each resource of the descriptor sets a Metal index, counted up in the
 * order of sets and bindings, push constants after them. As there, the indices are those of the
 * pipeline's layout, which has the bindings of all entry points.
 *
 * The library's header is not needed to build this: its enumerators are part of its binary
 * interface and are repeated here. */
#include "compile/msl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* spirv_cross_c.h: opaque handles; results are int, 0 is success. */
typedef struct spvc_context_s *context;
typedef struct spvc_parsed_ir_s *parsed_ir;
typedef struct spvc_compiler_s *compiler;
typedef struct spvc_compiler_options_s *compiler_options;
typedef struct spvc_resources_s *resources;
typedef struct reflected {
    uint32_t id, base_type_id, type_id;
    const char *name;
} reflected;
typedef struct entry_point {
    int execution_model;
    const char *name;
} entry_point;
typedef struct resource_binding {
    int stage;
    unsigned desc_set, binding, msl_buffer, msl_texture, msl_sampler;
} resource_binding;

enum {
    BACKEND_MSL = 3,
    CAPTURE_TAKE_OWNERSHIP = 1,
    RESOURCE_UNIFORM_BUFFER = 1,
    RESOURCE_STORAGE_BUFFER = 2,
    RESOURCE_PUSH_CONSTANT = 9,
    PLATFORM_IOS = 0,
    PLATFORM_MACOS = 1,
    MODEL_GLCOMPUTE = 5,
    DECORATION_BINDING = 33,
    DECORATION_SET = 34,
    MODE_LOCAL_SIZE = 17,
    MSL = 0x8000000,
    OPTION_VERSION = 17 | MSL,
    OPTION_SWIZZLE_INDEX = 19 | MSL,
    OPTION_INDIRECT_INDEX = 20 | MSL,
    OPTION_PAD_FRAGMENT = 29 | MSL,
    OPTION_PLATFORM = 31 | MSL,
    OPTION_ARGUMENT_BUFFERS = 32 | MSL,
    OPTION_TEXTURE_BUFFER_NATIVE = 34 | MSL,
    OPTION_BUFFER_SIZE_INDEX = 36 | MSL,
    OPTION_DISPATCH_BASE = 42 | MSL,
    OPTION_DYNAMIC_OFFSETS_INDEX = 43 | MSL,
    OPTION_FORCE_ACTIVE = 50 | MSL,
    OPTION_IOS_SIMDGROUP = 72 | MSL,
    OPTION_EMULATE_SUBGROUPS = 73 | MSL,
    OPTION_SUBGROUP_SIZE = 74 | MSL
};
#define PUSH_CONSTANT_SET UINT32_MAX
#define ARGUMENT_BUFFER_BINDING (~UINT32_C(3))

/* X(name, result, parameters) */
#define CALLS(X)                                                                                   \
    X(get_version, void, (unsigned *, unsigned *, unsigned *))                                     \
    X(context_create, int, (context *))                                                            \
    X(context_destroy, void, (context))                                                            \
    X(context_get_last_error_string, const char *, (context))                                      \
    X(context_parse_spirv, int, (context, const uint32_t *, size_t, parsed_ir *))                  \
    X(context_create_compiler, int, (context, int, parsed_ir, int, compiler *))                    \
    X(compiler_create_compiler_options, int, (compiler, compiler_options *))                       \
    X(compiler_options_set_bool, int, (compiler_options, int, unsigned char))                      \
    X(compiler_options_set_uint, int, (compiler_options, int, unsigned))                           \
    X(compiler_install_compiler_options, int, (compiler, compiler_options))                        \
    X(compiler_compile, int, (compiler, const char **))                                            \
    X(compiler_get_entry_points, int, (compiler, const entry_point **, size_t *))                  \
    X(compiler_set_entry_point, int, (compiler, const char *, int))                                \
    X(compiler_get_cleansed_entry_point_name, const char *, (compiler, const char *, int))         \
    X(compiler_get_execution_mode_argument_by_index, unsigned, (compiler, int, unsigned))          \
    X(compiler_create_shader_resources, int, (compiler, resources *))                              \
    X(resources_get_resource_list_for_type, int, (resources, int, const reflected **, size_t *))   \
    X(compiler_get_decoration, unsigned, (compiler, uint32_t, int))                                \
    X(msl_resource_binding_init, void, (resource_binding *))                                       \
    X(compiler_msl_add_resource_binding, int, (compiler, const resource_binding *))                \
    X(compiler_msl_set_argument_buffer_device_address_space, int,                                  \
      (compiler, unsigned, unsigned char))

struct rg_msl {
    void *handle;
    const char *version;
    context open; /* of the last translation: freed by the next one, should that one have thrown */
#define X(name, result, parameters) result(*name) parameters;
    CALLS(X)
#undef X
};

/* A pointer to a function, from one to data: POSIX promises that they are alike. */
static bool find(void *handle, const char *name, void *into) {
    void *at = dlsym(handle, name);
    memcpy(into, &at, sizeof at);
    return at != NULL;
}

rg_msl *rg_msl_open(rg_arena *a, const char *library, const char **why) {
    static const char *const names[] = {"libspirv-cross-c-shared.so.0",
                                        "libspirv-cross-c-shared.so",
                                        "libspirv-cross-c-shared.dylib"};
    enum { NAMES = sizeof names / sizeof *names };
    const char *wanted = library ? library : getenv("RETROGRAD_SPIRV_CROSS");
    rg_msl *m = RG_NEW(a, rg_msl);
    *why = NULL;
    if (wanted && *wanted) {
        m->handle = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    } else {
        for (int i = 0; i < NAMES && !m->handle; i++)
            m->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!m->handle) {
        const char *words = dlerror();
        *why = rg_format(a,
                         "translating to Metal needs SPIRV-Cross's C library "
                         "(libspirv-cross-c-shared): %s",
                         words ? words : "it cannot be opened");
        return NULL;
    }
    const char *missing = NULL;
#define X(name, result, parameters)                                                                \
    if (!find(m->handle, "spvc_" #name, &m->name))                                                 \
        missing = "spvc_" #name;
    CALLS(X)
#undef X
    if (missing) {
        *why = rg_format(a, "SPIRV-Cross's C library is too old: it has no %s", missing);
        dlclose(m->handle);
        return NULL;
    }
    unsigned major, minor, patch;
    m->get_version(&major, &minor, &patch);
    const char *revision = "";
    const char *(*get_revision)(void);
    if (find(m->handle, "spvc_get_commit_revision_and_timestamp", &get_revision))
        revision = get_revision();
    m->version = rg_format(a, "SPIRV-Cross C interface %u.%u.%u%s%s", major, minor, patch,
                           revision && *revision ? ", " : "", revision ? revision : "");
    return m;
}

static void forget(rg_msl *m) {
    if (m->open)
        m->context_destroy(m->open);
    m->open = NULL;
}

void rg_msl_close(rg_msl *m) {
    if (m && m->handle) {
        forget(m);
        dlclose(m->handle);
        m->handle = NULL;
    }
}

const char *rg_msl_version(const rg_msl *m) {
    return m->version;
}

uint32_t rg_msl_slots(const char *text) {
    static const char mark[] = "[[buffer(";
    uint32_t n = 0;
    for (const char *p = text; (p = strstr(p, mark)) != NULL; p += sizeof mark - 1) {
        const char *end = strchr(p, ']');
        size_t size = end ? (size_t)(end - p) : strlen(p);
        bool seen = false;
        for (const char *q = text; q < p && !seen; q++) {
            q = strstr(q, mark);
            seen = q < p && strncmp(q, p, size + 1) == 0;
        }
        n += !seen;
    }
    return n;
}

/* One translation in progress. */
typedef struct job {
    const rg_msl *m;
    rg_arena *a;
    context ctx;
    compiler com;
    const rg_msl_options *o;
    rg_msl_source *out;
} job;

static bool options(job *j) {
    const rg_msl *m = j->m;
    compiler_options o;
    uint32_t version = j->o->version ? j->o->version : 30000;
    bool arguments = j->o->argument_buffers;
    if (m->compiler_create_compiler_options(j->com, &o) != 0)
        return false;
    const struct {
        int option;
        unsigned value;
    } numbers[] = {{OPTION_VERSION, version},
                   {OPTION_PLATFORM, j->o->ios ? PLATFORM_IOS : PLATFORM_MACOS},
                   {OPTION_SUBGROUP_SIZE, 32},
                   {OPTION_SWIZZLE_INDEX, RG_MSL_SLOTS - 1},
                   {OPTION_BUFFER_SIZE_INDEX, RG_MSL_SLOTS - 2},
                   {OPTION_DYNAMIC_OFFSETS_INDEX, RG_MSL_SLOTS - 3},
                   {OPTION_INDIRECT_INDEX, RG_MSL_SLOTS - 4}};
    const struct {
        int option;
        bool value;
    } switches[] = {{OPTION_ARGUMENT_BUFFERS, arguments}, {OPTION_FORCE_ACTIVE, arguments},
                    {OPTION_PAD_FRAGMENT, true},          {OPTION_TEXTURE_BUFFER_NATIVE, true},
                    {OPTION_DISPATCH_BASE, false},        {OPTION_EMULATE_SUBGROUPS, false},
                    {OPTION_IOS_SIMDGROUP, j->o->ios}};
    bool fine = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fine &= m->compiler_options_set_uint(o, numbers[i].option, numbers[i].value) == 0;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        fine &= m->compiler_options_set_bool(o, switches[i].option, switches[i].value) == 0;
    return fine && m->compiler_install_compiler_options(j->com, o) == 0;
}

static bool chosen(job *j, const char *name, const char **why) {
    const rg_msl *m = j->m;
    const entry_point *points;
    size_t n = 0;
    if (m->compiler_get_entry_points(j->com, &points, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool it = name ? strcmp(points[i].name, name) == 0 : n == 1;
        if (!it || points[i].execution_model != MODEL_GLCOMPUTE)
            continue;
        const char *own = rg_strdup(j->a, points[i].name);
        if (m->compiler_set_entry_point(j->com, own, MODEL_GLCOMPUTE) != 0)
            return false;
        j->out->entry = own;
        for (unsigned d = 0; d < 3; d++)
            j->out->workgroup[d] =
                m->compiler_get_execution_mode_argument_by_index(j->com, MODE_LOCAL_SIZE, d);
        return true;
    }
    *why = name ? rg_format(j->a, "the module has no compute kernel '%s'", name)
                : rg_format(j->a, "the module has %zu entry points, not one compute kernel", n);
    return false;
}

static int by_place(const void *x, const void *y) {
    const rg_msl_binding *a = x, *b = y;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return a->binding < b->binding ? -1 : a->binding > b->binding;
}

static bool bind(job *j, uint32_t set, uint32_t binding, uint32_t at) {
    resource_binding r;
    j->m->msl_resource_binding_init(&r);
    r.stage = MODEL_GLCOMPUTE;
    r.desc_set = set;
    r.binding = binding;
    r.msl_buffer = r.msl_texture = r.msl_sampler = at;
    return j->m->compiler_msl_add_resource_binding(j->com, &r) == 0;
}

static bool bindings(job *j) {
    static const int types[] = {RESOURCE_UNIFORM_BUFFER, RESOURCE_STORAGE_BUFFER,
                                RESOURCE_PUSH_CONSTANT};
    const rg_msl *m = j->m;
    rg_msl_source *out = j->out;
    resources r;
    if (m->compiler_create_shader_resources(j->com, &r) != 0)
        return false;
    for (int t = 0; t < 3; t++) {
        const reflected *list;
        size_t n = 0;
        if (m->resources_get_resource_list_for_type(r, types[t], &list, &n) != 0)
            return false;
        for (size_t i = 0; i < n; i++) {
            bool push = types[t] == RESOURCE_PUSH_CONSTANT;
            rg_msl_binding b = {PUSH_CONSTANT_SET, 0, 0};
            if (!push) {
                b.set = m->compiler_get_decoration(j->com, list[i].id, DECORATION_SET);
                b.binding = m->compiler_get_decoration(j->com, list[i].id, DECORATION_BINDING);
            }
            RG_PUSH(j->a, &out->bindings, b);
        }
    }
    if (out->bindings.n)
        qsort(out->bindings.at, out->bindings.n, sizeof *out->bindings.at, by_place);
    /* Several variables may stand for one binding. */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->bindings.n; i++)
        if (!kept || by_place(&out->bindings.at[kept - 1], &out->bindings.at[i]) != 0)
            out->bindings.at[kept++] = out->bindings.at[i];
    out->bindings.n = kept;
    uint32_t next = 0, sets = 0;
    for (uint32_t i = 0; i < kept; i++) {
        rg_msl_binding *b = &out->bindings.at[i];
        bool push = b->set == PUSH_CONSTANT_SET;
        if (j->o->argument_buffers && push) {
            b->at = sets;
        } else if (j->o->argument_buffers) {
            bool first = !i || b[-1].set != b->set;
            if (first) {
                next = 0;
                sets = b->set + 1;
                if (!bind(j, b->set, ARGUMENT_BUFFER_BINDING, b->set) ||
                    m->compiler_msl_set_argument_buffer_device_address_space(j->com, b->set, 1))
                    return false;
            }
            b->at = next++;
        } else {
            b->at = next++;
        }
        if (!bind(j, b->set, b->binding, b->at))
            return false;
    }
    return true;
}

static bool run(job *j, const uint32_t *words, size_t count, const char *entry, const char **why) {
    const rg_msl *m = j->m;
    parsed_ir ir;
    const char *text;
    if (m->context_parse_spirv(j->ctx, words, count, &ir) != 0 ||
        m->context_create_compiler(j->ctx, BACKEND_MSL, ir, CAPTURE_TAKE_OWNERSHIP, &j->com) != 0)
        return false;
    if (!chosen(j, entry, why) || !options(j) || !bindings(j) ||
        m->compiler_compile(j->com, &text) != 0)
        return false;
    const char *clean =
        m->compiler_get_cleansed_entry_point_name(j->com, j->out->entry, MODEL_GLCOMPUTE);
    if (clean)
        j->out->entry = rg_strdup(j->a, clean);
    j->out->text = rg_strdup(j->a, text);
    j->out->slots = rg_msl_slots(j->out->text);
    return true;
}

bool rg_msl_translate(rg_msl *m, rg_arena *a, const uint32_t *words, size_t count,
                      const char *entry, const rg_msl_options *o, rg_msl_source *out,
                      const char **why) {
    static const rg_msl_options none = {0};
    memset(out, 0, sizeof *out);
    *why = NULL;
    job j = {.m = m, .a = a, .o = o ? o : &none, .out = out};
    forget(m);
    if (m->context_create(&m->open) != 0) {
        *why = "SPIRV-Cross: out of memory";
        return false;
    }
    j.ctx = m->open;
    bool fine = run(&j, words, count, entry, why);
    if (!fine && !*why) {
        const char *words_of_it = m->context_get_last_error_string(j.ctx);
        *why = rg_format(a, "SPIRV-Cross: %s",
                         words_of_it && *words_of_it ? words_of_it : "cannot translate the module");
    }
    forget(m);
    return fine;
}
