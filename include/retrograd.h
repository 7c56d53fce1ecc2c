/* Retrograd: gradients of C kernels on every device.
 *
 * A kernel file is plain C99 with OpenMP pragmas (docs/kernel-c.md). Retrograd compiles it, derives
 * the adjoint (reverse mode) and the tangent (forward mode), and runs all of them on a device:
 *
 *     rg_context *ctx;  rg_context_new(NULL, &ctx);
 *     rg_device *dev;   rg_device_open(ctx, "cpu", NULL, &dev);
 *     rg_module *mod;   rg_module_load(dev, "springs.c", NULL, &mod);
 *     rg_kernel *k;     rg_module_kernel(mod, "energy", &k);
 *
 * Every call that can fail returns an rg_status; the words are in rg_context_message(ctx). Nothing
 * prints, exits or aborts. A context, and everything made from it, is used by one thread at a time;
 * different contexts are independent. Handles are released in any order: a device, module or
 * array lives until its last user is gone.
 */
#ifndef RETROGRAD_H
#define RETROGRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define RG_API __declspec(dllexport)
#else
#define RG_API __attribute__((visibility("default")))
#endif

#define RG_VERSION_MAJOR 0
#define RG_VERSION_MINOR 1
#define RG_VERSION_PATCH 0

typedef enum rg_status {
    RG_OK = 0,
    RG_ERROR_ARGUMENT,    /* a bad argument: null, wrong type, rank, shape, device, name */
    RG_ERROR_SOURCE,      /* the kernel file has errors: the message lists them */
    RG_ERROR_REFUSED,     /* valid, but its derivative cannot be made right: the message says why */
    RG_ERROR_MEMORY,      /* out of memory */
    RG_ERROR_FILE,        /* a file could not be read or written */
    RG_ERROR_DEVICE,      /* no such device, a driver's error, or a missing feature */
    RG_ERROR_COMPILER,    /* the device's compiler is missing or failed */
    RG_ERROR_FAULT,       /* checked mode: out of bounds, division by zero, race ... */
    RG_ERROR_STATE,       /* out of order: backward without record, array changed in between ... */
    RG_ERROR_UNSUPPORTED, /* a reserved option */
    RG_ERROR_INTERNAL     /* a bug in Retrograd: please report the message */
} rg_status;

RG_API const char *rg_status_name(rg_status s); /* "argument" ... static */
RG_API const char *rg_version(void);            /* "0.1.0" */

typedef struct rg_context rg_context;
typedef struct rg_device rg_device;
typedef struct rg_module rg_module;
typedef struct rg_kernel rg_kernel;
typedef struct rg_array rg_array;
typedef struct rg_record rg_record;

/* ---- contexts ---- */

typedef struct rg_context_options {
    size_t size; /* sizeof(rg_context_options) */
    /* realloc semantics; size 0 frees. NULL: the C library. Used for host memory of the library
     * (not inside driver libraries). */
    void *(*resize)(void *user, void *old, size_t old_size, size_t size);
    void *user;
    /* Folder of the compiled-kernel cache. NULL: $RETROGRAD_CACHE, else $XDG_CACHE_HOME/retrograd,
     * else ~/.cache/retrograd. "": no cache on disk. */
    const char *cache_dir;
} rg_context_options;

RG_API rg_status rg_context_new(const rg_context_options *o, rg_context **out);
RG_API void rg_context_release(rg_context *ctx);
/* Words for the last call that failed; "" before any. Valid until the next call on ctx. After a
 * module was compiled: its warnings. */
RG_API const char *rg_context_message(const rg_context *ctx);

/* ---- devices ---- */

typedef struct rg_device_options {
    size_t size;
    int threads;  /* cpu: worker threads; 0: all cores, or $RETROGRAD_THREADS */
    bool checked; /* bounds, integer division, shifts are checked at run time */
    bool races;   /* with checked on `ref`: report races */
    const char *cc;     /* cpu: compiler; NULL: $CC, else "cc" */
    const char *cflags; /* cpu: extra flags; NULL: $CFLAGS, else none */
    bool contract;  /* allow floating-point contraction (fma) */
    bool fast_math; /* allow what -ffast-math allows */
    bool deterministic; /* reserved: answers RG_ERROR_UNSUPPORTED */
    void *adopt;        /* reserved: the caller's VkDevice or CUcontext; must be NULL */
} rg_device_options;

typedef struct rg_device_info {
    size_t size;
    char name[32];         /* what rg_device_open takes: "cpu", "ref", "vulkan", "vulkan:1" */
    char description[160]; /* "x86-64, 2 threads, gcc 12.2.0" */
    bool available;
    char why_not[160];     /* when not available */
    char addressing[16];   /* Vulkan: "address" or "offset"; else "" */
    char caps[256];        /* what the device was measured to do, words; "" when it does all */
} rg_device_info;

/* Devices that this build knows, present or not. */
RG_API rg_status rg_device_count(rg_context *ctx, size_t *out);
RG_API rg_status rg_device_describe(rg_context *ctx, size_t i, rg_device_info *out);
RG_API rg_status rg_device_open(rg_context *ctx, const char *name, const rg_device_options *o,
                                rg_device **out);
RG_API void rg_device_release(rg_device *dev);
/* Waits for all launches; returns and clears the first error among them. */
RG_API rg_status rg_sync(rg_device *dev);

/* ---- modules and kernels ---- */

typedef struct rg_module_options {
    size_t size;
    const char *const *defines; /* "NAME" or "NAME=TEXT" */
    size_t n_defines;
    const char *const *include_dirs;
    size_t n_include_dirs;
    const char *cpp;   /* outside preprocessor: "cc -E -nostdinc"; NULL: Retrograd's own */
    bool strict_edges; /* one-sided limits instead of conventional zeros (docs/edge-rules.md) */
} rg_module_options;

/* dev may be NULL for rg_module_* from a context: compile and emit only. */
RG_API rg_status rg_module_load(rg_device *dev, const char *path, const rg_module_options *o,
                                rg_module **out);
/* text need not be NUL-terminated; path is for messages. */
RG_API rg_status rg_module_compile(rg_device *dev, const char *path, const char *text, size_t size,
                                   const rg_module_options *o, rg_module **out);
RG_API void rg_module_release(rg_module *m);
RG_API rg_status rg_module_kernel(rg_module *m, const char *name, rg_kernel **out);
RG_API size_t rg_module_kernel_count(const rg_module *m);
RG_API rg_kernel *rg_module_kernel_at(rg_module *m, size_t i); /* owned by the module */
RG_API const char *rg_kernel_name(const rg_kernel *k);

typedef enum rg_dtype {
    RG_DTYPE_BOOL, RG_DTYPE_I8, RG_DTYPE_U8, RG_DTYPE_I16, RG_DTYPE_U16, RG_DTYPE_I32,
    RG_DTYPE_U32, RG_DTYPE_I64, RG_DTYPE_U64, RG_DTYPE_F16, RG_DTYPE_F32, RG_DTYPE_F64,
    RG_DTYPE_STRUCT
} rg_dtype;

typedef struct rg_param_info {
    size_t size;
    const char *name;
    bool is_array;
    bool is_const;    /* array: read-only */
    rg_dtype dtype;
    size_t item_size; /* bytes of an element or of the value */
    size_t rank;      /* array: axes */
    bool has_float;   /* may carry a gradient */
    /* struct: number of its scalars when all share one type, and that type; else 0 */
    size_t fields;
    rg_dtype field_dtype;
    const char *const *extent_text; /* [rank] "n", "m + 1", NULL when not declared; borrowed */
    const char *type_name; /* struct: the typedef's or tag's name; NULL for scalars; borrowed */
} rg_param_info;

/* One scalar of a parameter's element (or of its by-value value): structs, and the fixed arrays in
 * them, taken apart in the order of memory. A plain type has one, with the path "". */
typedef struct rg_field_info {
    size_t size;
    char path[128]; /* ".x", ".m[0][1]" */
    rg_dtype dtype;
    size_t offset; /* bytes from the element's start */
} rg_field_info;

RG_API size_t rg_kernel_param_count(const rg_kernel *k);
RG_API rg_status rg_kernel_param(const rg_kernel *k, size_t i, rg_param_info *out);
RG_API size_t rg_kernel_field_count(const rg_kernel *k, size_t param);
RG_API rg_status rg_kernel_field(const rg_kernel *k, size_t param, size_t field,
                                 rg_field_info *out);
/* Declared shape of array parameter i from the integer parameters' values: values[j] for parameter
 * j (others ignored; known[j] false: not given). shape[rank]; -1: not declared or not known. */
RG_API rg_status rg_kernel_param_shape(const rg_kernel *k, size_t i, const int64_t *values,
                                       const bool *known, int64_t *shape);

/* ---- arrays ---- */

enum { RG_MAX_RANK = 8 };

/* Zero-filled array on the device, of the element type of a kernel's parameter or a plain type
 * (for structs use rg_array_for). shape may hold zeros. gradient: with a gradient, zero-filled. */
RG_API rg_status rg_array_new(rg_device *dev, rg_dtype dtype, size_t rank, const int64_t *shape,
                              bool gradient, rg_array **out);
RG_API rg_status rg_array_for(rg_kernel *k, size_t param, size_t rank, const int64_t *shape,
                              bool gradient, rg_array **out);
/* An array of items of item_size bytes that the library does not look into. */
RG_API rg_status rg_array_new_struct(rg_device *dev, size_t item_size, size_t rank,
                                     const int64_t *shape, bool gradient, rg_array **out);
/* The caller's memory without a copy (cpu and ref); gradient may be NULL. It must outlive the
 * array. After changing it behind the library's back, call rg_array_touch. */
RG_API rg_status rg_array_wrap(rg_device *dev, rg_dtype dtype, size_t rank, const int64_t *shape,
                               void *data, void *gradient, rg_array **out);
RG_API rg_status rg_array_wrap_struct(rg_device *dev, size_t item_size, size_t rank,
                                      const int64_t *shape, void *data, void *gradient,
                                      rg_array **out);
/* Slice of the leading axes: indices[0..n) fixed; shares data, gradient and versions. */
RG_API rg_status rg_array_view(rg_array *a, size_t n, const int64_t *indices, rg_array **out);
RG_API void rg_array_release(rg_array *a);

RG_API size_t rg_array_rank(const rg_array *a);
RG_API const int64_t *rg_array_shape(const rg_array *a);
RG_API rg_dtype rg_array_dtype(const rg_array *a);
RG_API size_t rg_array_item_size(const rg_array *a);
RG_API size_t rg_array_count(const rg_array *a); /* elements */
RG_API bool rg_array_has_gradient(const rg_array *a);

typedef enum rg_part { RG_DATA, RG_GRADIENT } rg_part;
/* Whole contents, in C order; bytes must be count * item_size. */
RG_API rg_status rg_array_write(rg_array *a, rg_part part, const void *from, size_t bytes);
RG_API rg_status rg_array_read(rg_array *a, rg_part part, void *to, size_t bytes);
RG_API rg_status rg_array_fill_zero(rg_array *a, rg_part part);
/* Direct access until rg_array_unmap; on cpu and ref the memory itself. */
RG_API rg_status rg_array_map(rg_array *a, rg_part part, void **out);
RG_API rg_status rg_array_unmap(rg_array *a, rg_part part);
RG_API rg_status rg_array_touch(rg_array *a);
/* This array's dependence on anything with a gradient is deliberately cut. */
RG_API rg_status rg_detach(rg_array *a);

/* ---- launches ---- */

/* One argument, in the order of the parameters. Arrays: array. Scalars: value points to the value
 * (read at the call), gradient (optional) is an array of shape [1] of the same type that receives
 * the scalar's gradient (or holds its tangent, for rg_launch_tangent). */
typedef struct rg_arg {
    rg_array *array;
    const void *value;
    rg_array *gradient;
} rg_arg;

#define RG_ARRAY(a) ((rg_arg){(a), NULL, NULL})
#define RG_VALUE(v) ((rg_arg){NULL, &(v), NULL}) /* v: a variable of the parameter's exact type */
#define RG_VALUE_GRAD(v, g) ((rg_arg){NULL, &(v), (g)})

/* Runs the kernel: asynchronous, in order; errors that show later come from rg_sync. */
RG_API rg_status rg_launch(rg_kernel *k, const rg_arg *args, size_t n);
/* Runs the kernel and keeps what its adjoint needs. */
RG_API rg_status rg_record_launch(rg_kernel *k, const rg_arg *args, size_t n, rg_record **out);
/* Adds to the gradients of the record's inputs from those of its outputs; clears the gradients of
 * elements that the kernel overwrote. Once per record. */
RG_API rg_status rg_backward(rg_record *r);
RG_API void rg_record_release(rg_record *r);
/* Runs the kernel and its tangent: the gradient part of each array holds its tangent. */
RG_API rg_status rg_launch_tangent(rg_kernel *k, const rg_arg *args, size_t n);

/* A tape: recorded launches, run backward in reverse order. */
typedef struct rg_tape rg_tape;
RG_API rg_status rg_tape_new(rg_context *ctx, rg_tape **out);
RG_API rg_status rg_tape_launch(rg_tape *t, rg_kernel *k, const rg_arg *args, size_t n);
RG_API rg_status rg_tape_backward(rg_tape *t); /* and empties it */
RG_API void rg_tape_release(rg_tape *t);

/* ---- source of what is run ---- */

typedef enum rg_kernel_mode { RG_MODE_PRIMAL, RG_MODE_ADJOINT, RG_MODE_TANGENT, RG_MODE_HVP }
    rg_kernel_mode;
typedef enum rg_target { RG_TARGET_C, RG_TARGET_IR, RG_TARGET_CPU, RG_TARGET_EXPLAIN } rg_target;

typedef struct rg_emit_options {
    size_t size;
    rg_kernel_mode mode;
    rg_target target;      /* CPU: the form that the cpu device compiles */
    const bool *active;    /* [param count] which parameters carry gradients; NULL: all that can */
} rg_emit_options;

/* Text of a kernel's variant; free it with rg_free. */
RG_API rg_status rg_kernel_emit(rg_kernel *k, const rg_emit_options *o, char **out);
/* Context-only modules (no device): for emit. */
RG_API rg_status rg_module_load_host(rg_context *ctx, const char *path, const rg_module_options *o,
                                     rg_module **out);
RG_API void rg_free(rg_context *ctx, void *p);

/* Compiles ahead the variants that a launch of this mode with these activities would use. */
RG_API rg_status rg_kernel_prepare(rg_kernel *k, const rg_emit_options *o);

/* ---- cache ---- */

typedef struct rg_cache_info {
    size_t size;
    char path[512];
    uint64_t entries, bytes;
} rg_cache_info;
RG_API rg_status rg_cache_describe(rg_context *ctx, rg_cache_info *out);
RG_API rg_status rg_cache_clear(rg_context *ctx, uint64_t *removed);

#ifdef __cplusplus
}
#endif
#endif
