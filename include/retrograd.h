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
    int threads;        /* cpu: worker threads; 0: all cores, or $RETROGRAD_THREADS */
    bool checked;       /* bounds, integer division, shifts are checked at run time */
    bool races;         /* with checked on `ref`: report races */
    const char *cc;     /* cpu: compiler; NULL: $CC, else "cc" */
    const char *cflags; /* cpu: extra flags; NULL: $CFLAGS, else none */
    bool contract;      /* allow floating-point contraction (fma) */
    bool fast_math;     /* allow what -ffast-math allows */
    bool deterministic; /* reserved: answers RG_ERROR_UNSUPPORTED */
    void *adopt;        /* reserved: the caller's VkDevice or CUcontext; must be NULL */
} rg_device_options;

typedef struct rg_device_info {
    size_t size;
    char name[32];         /* what rg_device_open takes: "cpu", "ref", "vulkan", "vulkan:1" */
    char description[160]; /* "x86-64, 2 threads, gcc 12.2.0" */
    bool available;
    char why_not[160];   /* when not available */
    char addressing[16]; /* Vulkan: "address" or "offset"; else "" */
    char caps[256];      /* what the device was measured to do, words; "" when it does all */
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
    /* Bytes that an adjoint may save for its loops; 0: 1 GiB. Where every step of a long loop would
     * take more, the loop runs in blocks, saving at the start of each, and once more on the way
     * back (docs/kernel-c.md, "Checkpoints"). */
    uint64_t tape_memory;
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
    RG_DTYPE_BOOL,
    RG_DTYPE_I8,
    RG_DTYPE_U8,
    RG_DTYPE_I16,
    RG_DTYPE_U16,
    RG_DTYPE_I32,
    RG_DTYPE_U32,
    RG_DTYPE_I64,
    RG_DTYPE_U64,
    RG_DTYPE_F16,
    RG_DTYPE_F32,
    RG_DTYPE_F64,
    RG_DTYPE_STRUCT
} rg_dtype;

typedef struct rg_param_info {
    size_t size;
    const char *name;
    bool is_array;
    bool is_const; /* array: read-only */
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
/* Runs the kernel and keeps what its adjoint needs: old values of arrays that it overwrites, what
 * its atomics capture, and up to 256 MB of the results of its reductions and atomic float sums. */
RG_API rg_status rg_record_launch(rg_kernel *k, const rg_arg *args, size_t n, rg_record **out);
/* Adds to the gradients of the record's inputs from those of its outputs; clears the gradients of
 * elements that the kernel overwrote. Once per record. */
RG_API rg_status rg_backward(rg_record *r);
RG_API void rg_record_release(rg_record *r);
/* Runs the kernel and its tangent: the gradient part of each array holds its tangent. */
RG_API rg_status rg_launch_tangent(rg_kernel *k, const rg_arg *args, size_t n);

/* A direction for a Hessian-vector product at one argument. Both are arrays of the argument's type
 * and shape ([1] for a scalar), and both may be NULL. tangent: its data is the direction;
 * afterwards it is the tangent of what the kernel left. NULL: zero. product: to its data the
 * derivative of the argument's gradient in the direction is added, and cleared where the kernel
 * overwrote elements; on entry it is the derivative of the incoming gradient, zeros as a rule.
 * NULL: not wanted. Arguments that are one array have one direction and one product: give them to
 * one of those arguments, or the same to all. */
typedef struct rg_direction {
    rg_array *tangent;
    rg_array *product;
} rg_direction;

/* Hessian-vector product: runs the kernel, adds to the gradients as rg_record_launch and
 * rg_backward would, and gives the derivatives of those gradients in the direction. directions: one
 * for each argument; only arguments with a gradient may have them. Waits for the result. */
RG_API rg_status rg_hvp(rg_kernel *k, const rg_arg *args, const rg_direction *directions, size_t n);
/* The same by the adjoint of the tangent instead of the tangent of the adjoint: the same numbers up
 * to rounding, and memory for what the tangent's loops save. Adjoints by pragma are not used. */
RG_API rg_status rg_adjoint_of_tangent(rg_kernel *k, const rg_arg *args,
                                       const rg_direction *directions, size_t n);

/* A tape: recorded launches, run backward in reverse order. */
typedef struct rg_tape rg_tape;
RG_API rg_status rg_tape_new(rg_context *ctx, rg_tape **out);
RG_API rg_status rg_tape_launch(rg_tape *t, rg_kernel *k, const rg_arg *args, size_t n);
RG_API rg_status rg_tape_backward(rg_tape *t); /* and empties it */
RG_API void rg_tape_release(rg_tape *t);

/* ---- source of what is run ---- */

typedef enum rg_kernel_mode {
    RG_MODE_PRIMAL,
    RG_MODE_ADJOINT,
    RG_MODE_TANGENT,
    RG_MODE_HVP,               /* the tangent of the adjoint */
    RG_MODE_ADJOINT_OF_TANGENT /* the same in the other order */
} rg_kernel_mode;
typedef enum rg_target {
    RG_TARGET_C,
    RG_TARGET_IR,
    RG_TARGET_CPU,
    RG_TARGET_EXPLAIN,
    RG_TARGET_SPIRV, /* binary: one module, its entry points task0, task1 ... */
    RG_TARGET_MSL    /* what SPIRV-Cross makes of it for Metal, one text after another */
} rg_target;

/* How arrays reach SPIR-V. */
typedef enum rg_addressing {
    RG_ADDRESSING_ADDRESS, /* as 64-bit addresses in the argument block */
    RG_ADDRESSING_OFFSET   /* as offsets into a memory block that is bound */
} rg_addressing;

typedef struct rg_emit_options {
    size_t size;
    rg_kernel_mode mode;
    rg_target target;   /* CPU: the form that the cpu device compiles */
    const bool *active; /* [param count] which parameters carry gradients; NULL: all that can */
    rg_addressing addressing; /* SPIRV, MSL */
    size_t *length; /* out: bytes of the text, or of the SPIR-V, which is binary; or NULL */
} rg_emit_options;

/* Text of a kernel's variant (followed by a zero byte); free it with rg_free. */
RG_API rg_status rg_kernel_emit(rg_kernel *k, const rg_emit_options *o, char **out);
/* Variants of several kernels of one module as one C file: types, helpers and includes once.
 * options[i] is about kernels[i]; every target is RG_TARGET_C, `length` is options[0]'s. */
RG_API rg_status rg_kernels_emit(rg_kernel *const *kernels, const rg_emit_options *options,
                                 size_t n, char **out);
/* Context-only modules (no device): for emit. */
RG_API rg_status rg_module_load_host(rg_context *ctx, const char *path, const rg_module_options *o,
                                     rg_module **out);
RG_API void rg_free(rg_context *ctx, void *p);

typedef struct rg_slots_info {
    size_t size;
    uint32_t slots; /* Metal buffer slots that the variant's most demanding task takes */
    uint32_t limit; /* what Metal has: 31 */
    uint32_t tasks;
    uint32_t arrays; /* array parameters of the kernel */
} rg_slots_info;

/* Counts the Metal buffer slots of a variant in its translated source (o->target is ignored). More
 * than the limit is no error of this call. */
RG_API rg_status rg_kernel_slots(rg_kernel *k, const rg_emit_options *o, rg_slots_info *out);

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

/* ---- SPIR-V from any compiler ---- */

/* What translators from SPIR-V to Metal (SPIRV-Cross, inside MoltenVK) get wrong: docs/moltenvk.md.
 * rg_spirv_fix belongs between a code generator and vkCreateShaderModule. No context is needed, and
 * the calls may be made from any threads at once. */
typedef enum rg_spirv_fault {
    RG_SPIRV_LOAD_LATE,     /* a load through a physical pointer may be read after memory changed; a
                             * load of any kind, in a loop after it that changes the memory */
    RG_SPIRV_CALL_LATE,     /* so may what a function returns that reads memory */
    RG_SPIRV_INDEX_IN_CAST, /* an element's index is printed inside the cast to its pointer */
    RG_SPIRV_ATOMIC_POINTER, /* an atomic on a pointer that comes from no access chain */
    RG_SPIRV_ATOMIC_REFUSED, /* an atomic on a pointer that the translator cannot trace */
    RG_SPIRV_FLOAT_ATOMIC,   /* OpAtomicFAddEXT before it was known; any float atomic in workgroup
                              * memory, where Metal has none */
    RG_SPIRV_SLOTS,          /* an entry point uses more than Metal's 31 buffer slots */
    RG_SPIRV_NOT_METAL       /* a construct that no translator accepts */
} rg_spirv_fault;

/* Translators known, as a set: Debian 12's and 13's SPIRV-Cross and the first with the repair of
 * April 2026. MoltenVK 1.2.8 to 1.4.1 contain revisions between the first two and the third. */
enum {
    RG_SPIRV_CROSS_1_3_239 = 1,
    RG_SPIRV_CROSS_1_4_304 = 2,
    RG_SPIRV_CROSS_1_4_357 = 4,
    RG_SPIRV_CROSS_ALL = 7
};

typedef struct rg_spirv_repair_options {
    size_t size; /* sizeof(rg_spirv_repair_options) */
    /* As in rg_context_options; for everything that the call allocates. NULL: the C library. */
    void *(*resize)(void *user, void *old, size_t old_size, size_t size);
    void *user;
    unsigned translators; /* RG_SPIRV_CROSS_ bits that matter; 0: all */
} rg_spirv_repair_options;

typedef struct rg_spirv_report rg_spirv_report;

typedef struct rg_spirv_finding {
    size_t size;
    rg_spirv_fault fault;
    unsigned translators; /* RG_SPIRV_CROSS_ bits: those that get it wrong */
    bool fixable;         /* rg_spirv_fix repairs it */
    uint32_t word;        /* of the instruction in the module; 0: the module or an entry point */
    uint32_t id;          /* its result, or the entry point; 0: none */
    const char *name;     /* OpName of id, or "%id"; borrowed, like all text here */
    const char *opcode;   /* "OpLoad" ... */
    const char *function; /* name of the function around it; "" for the module */
    const char *file;     /* from debug information; NULL: none */
    uint32_t line, column;
    uint32_t
        changed_word;   /* late values: the store, atomic ... that may change the memory; else 0 */
    uint32_t used_word; /* and the use after it */
    const char *text;   /* one sentence */
} rg_spirv_finding;

/* words: the module, size in bytes, unaligned or in either byte order. Options may be NULL.
 * RG_OK with a report that has as many findings as there are; RG_ERROR_SOURCE for what is not valid
 * SPIR-V: *report then has none, and rg_spirv_report_message says why. The module is not kept.
 * On RG_ERROR_MEMORY and RG_ERROR_ARGUMENT *report is NULL. */
RG_API rg_status rg_spirv_check(const void *words, size_t size, const rg_spirv_repair_options *o,
                                rg_spirv_report **report);
/* The module rewritten where rg_spirv_check found something fixable, and nowhere else: a clean
 * module comes back byte for byte, and so does one that was fixed before. *out is the caller's, to
 * be released with rg_spirv_free and the same options. report may be NULL; else it has what is left
 * after the rewriting. *out is NULL unless the answer is RG_OK. */
RG_API rg_status rg_spirv_fix(const void *words, size_t size, const rg_spirv_repair_options *o,
                              void **out, size_t *out_size, rg_spirv_report **report);
RG_API void rg_spirv_free(const rg_spirv_repair_options *o, void *out); /* NULL is fine */
RG_API size_t rg_spirv_report_count(const rg_spirv_report *r);
/* out->size must be set; texts live as long as the report. */
RG_API rg_status rg_spirv_report_finding(const rg_spirv_report *r, size_t i, rg_spirv_finding *out);
RG_API const char *rg_spirv_report_message(const rg_spirv_report *r); /* "" when valid */
RG_API void rg_spirv_report_release(rg_spirv_report *r);              /* NULL is fine */
RG_API const char *rg_spirv_fault_name(rg_spirv_fault f);             /* "load-late" ... static */

#ifdef __cplusplus
}
#endif
#endif
