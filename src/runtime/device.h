/* Devices: one vtable each, in one list (device.c). Adding one touches its own file and that list.
 *
 * A launch is the same on all: the front part (launch.c) checks the arguments and says, for each
 * parameter, where its data, its shadow and its value are; the device runs a program, which is one
 * variant of one kernel, on that. */
#ifndef RG_RUNTIME_DEVICE_H
#define RG_RUNTIME_DEVICE_H

#include "runtime/context.h"

#include "base/text.h"

struct rg_program;
struct rg_storage;

/* Memory of the device. `at` is where the host sees it; on a device with read and write, the
 * device's own number for it, good for sums only. */
typedef struct rg_memory {
    unsigned char *at;
    void *base; /* as allocated; NULL: the caller's own memory */
    size_t base_size;
} rg_memory;

/* One parameter at a launch; after the kernel's, the record arrays of a program that has them. */
typedef struct rg_binding {
    unsigned char *data;          /* array: its first element */
    unsigned char *shadow;        /* gradient or tangent; NULL: none */
    unsigned char *dot, *product; /* Hessian-vector product: tangent, and that of the gradient */
    const int64_t *shape;         /* array: all axes */
    const void *value;            /* by value */
} rg_binding;

typedef struct rg_device_ops {
    const char *name;
    /* Fills description, available and why_not; the rest is set, the name too. */
    void (*describe)(rg_context *ctx, rg_device_info *out);
    rg_status (*open)(rg_device *dev);
    void (*close)(rg_device *dev);
    rg_status (*alloc)(rg_device *dev, size_t bytes, rg_memory *out); /* zero-filled */
    void (*free)(rg_device *dev, rg_memory *m);
    rg_status (*copy)(rg_device *dev, void *to, const void *from, size_t bytes);
    /* Between device and host, in order with the launches, over when it returns. NULL: the memory
     * is the host's, and copy does. */
    rg_status (*read)(rg_device *dev, void *to, const void *from, size_t bytes);
    rg_status (*write)(rg_device *dev, void *to, const void *from, size_t bytes);
    rg_status (*zero)(rg_device *dev, void *at, size_t bytes);
    /* Makes programs of one module ready to run, all at once. Those that are ready are passed over.
     */
    rg_status (*prepare)(rg_device *dev, struct rg_program *const *p, uint32_t n);
    /* args: one for each parameter of the kernel. An error here is one of this launch. */
    rg_status (*launch)(rg_device *dev, struct rg_program *p, const rg_binding *args);
    /* Waits until all that was launched has run. */
    rg_status (*sync)(rg_device *dev);
    /* A module goes: frees what prepare has put into its `code`. */
    void (*unload)(rg_device *dev, void *code);
    /* How many there are: "name", "name:1", ... NULL: one. */
    uint32_t (*count)(void);
} rg_device_ops;

struct rg_device {
    rg_handle handle;
    rg_context *ctx;
    const rg_device_ops *ops;
    uint32_t index;            /* among those of that name */
    rg_device_options options; /* its texts are the device's own */
    char *cc, *cflags;
    char *cc_version; /* what `cc --version` says, once asked */
    uint32_t lanes;   /* iterations of a parallel loop that hold scratch at one time; 0: 1 */
    void *state;      /* the device's */
    rg_status error;  /* the first error of a launch since the last sync: sticky */
    char *error_text;
    struct rg_storage *wrapped; /* memory of the caller's: two of them may overlap */
};

extern const rg_device_ops rg_device_cpu, rg_device_ref, rg_device_vulkan;

void rg_device_retain(rg_device *dev);
void rg_device_drop(rg_device *dev);
/* Keeps the context's message as the sticky error of a launch, and returns s. */
rg_status rg_device_stick(rg_device *dev, rg_status s);
/* The sticky error, again, if there is one. */
rg_status rg_device_state(rg_device *dev);

/* Between the device's memory and the host's. */
rg_status rg_device_read(rg_device *dev, void *to, const void *from, size_t bytes);
rg_status rg_device_write(rg_device *dev, void *to, const void *from, size_t bytes);

/* For devices whose memory is the host's. */
rg_status rg_host_alloc(rg_device *dev, size_t bytes, rg_memory *out);
void rg_host_free(rg_device *dev, rg_memory *m);
rg_status rg_host_copy(rg_device *dev, void *to, const void *from, size_t bytes);
rg_status rg_host_zero(rg_device *dev, void *at, size_t bytes);

#endif
