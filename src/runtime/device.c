#include "runtime/device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rg_device_ops *const devices[] = {&rg_device_cpu, &rg_device_ref, &rg_device_vulkan};
enum { DEVICES = sizeof devices / sizeof *devices };

#ifdef __ELF__
/* Devices that a test program links in, ended by NULL. They can be opened, but are not listed. */
extern const rg_device_ops *const rg_devices_more[] __attribute__((weak));
#endif

/* One place in the list for a kind of which there is none: describing it says why. */
static size_t count_of(const rg_device_ops *ops) {
    uint32_t n = ops->count ? ops->count() : 1;
    return n ? n : 1;
}

/* "vulkan:1" is number 1 of its kind, "vulkan" number 0. */
static const rg_device_ops *find(const char *name, uint32_t *index) {
    size_t n = strcspn(name, ":");
    *index = 0;
    for (int i = 0; i < DEVICES; i++) {
        if (strlen(devices[i]->name) != n || strncmp(devices[i]->name, name, n) != 0)
            continue;
        if (!name[n])
            return devices[i];
        char *end = NULL;
        unsigned long number =
            name[n + 1] >= '0' && name[n + 1] <= '9' ? strtoul(name + n + 1, &end, 10) : ULONG_MAX;
        if (!end || *end || number > 4096 || !devices[i]->count)
            return NULL;
        *index = (uint32_t)number;
        return devices[i];
    }
#ifdef __ELF__
    for (const rg_device_ops *const *more = rg_devices_more; more && *more; more++)
        if (strcmp((*more)->name, name) == 0)
            return *more;
#endif
    return NULL;
}

rg_status rg_device_count(rg_context *ctx, size_t *out) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    if (!out)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "rg_device_count: out is null");
    *out = 0;
    for (int i = 0; i < DEVICES; i++)
        *out += count_of(devices[i]);
    return RG_OK;
}

rg_status rg_device_describe(rg_context *ctx, size_t i, rg_device_info *out) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    if (!out || out->size < sizeof *out)
        return rg_fail(ctx, RG_ERROR_ARGUMENT,
                       "rg_device_describe: out is null or its size not set");
    size_t all = 0, before = 0;
    const rg_device_ops *ops = NULL;
    for (int k = 0; k < DEVICES; k++) {
        size_t n = count_of(devices[k]);
        if (!ops && i < all + n) {
            ops = devices[k];
            before = all;
        }
        all += n;
    }
    if (!ops)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "there is no device %zu: this build has %zu", i,
                       all);
    size_t size = out->size;
    memset(out, 0, sizeof *out);
    out->size = size;
    if (i > before)
        snprintf(out->name, sizeof out->name, "%s:%zu", ops->name, i - before);
    else
        snprintf(out->name, sizeof out->name, "%s", ops->name);
    ops->describe(ctx, out);
    return RG_OK;
}

rg_status rg_device_open(rg_context *ctx, const char *name, const rg_device_options *o,
                         rg_device **out) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    if (!out || !name)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "rg_device_open: %s is null", name ? "out" : "name");
    *out = NULL;
    if (o && o->size < sizeof *o)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "rg_device_open: the options' size is not set");
    if (o && o->deterministic)
        return rg_fail(ctx, RG_ERROR_UNSUPPORTED,
                       "deterministic accumulation is not supported yet");
    if (o && o->adopt)
        return rg_fail(ctx, RG_ERROR_UNSUPPORTED,
                       "adopting a driver's device is not supported yet");
    uint32_t index;
    const rg_device_ops *ops = find(name, &index);
    if (!ops)
        return rg_fail(ctx, RG_ERROR_DEVICE,
                       "there is no device '%s'; this build has: cpu, ref, vulkan", name);
    if (o && o->threads < 0)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "%d threads: give 1 or more, or 0 for all cores",
                       o->threads);
    rg_device *dev = rg_handle_new(ctx, sizeof *dev, RG_MAGIC_DEVICE);
    if (!dev)
        return RG_ERROR_MEMORY;
    dev->ctx = ctx;
    dev->index = index;
    rg_context_retain(ctx);
    if (o)
        dev->options = *o;
    const char *cc = o && o->cc ? o->cc : getenv("CC");
    const char *cflags = o && o->cflags ? o->cflags : getenv("CFLAGS");
    dev->cc = rg_ctx_strdup(ctx, cc && *cc ? cc : "cc");
    dev->cflags = rg_ctx_strdup(ctx, cflags ? cflags : "");
    dev->options.cc = dev->cc;
    dev->options.cflags = dev->cflags;
    rg_status s = dev->cc && dev->cflags ? ops->open(dev) : RG_ERROR_MEMORY;
    if (s == RG_OK)
        dev->ops = ops; /* from here on it is to be closed */
    else {
        rg_device_drop(dev);
        return s;
    }
    *out = dev;
    return RG_OK;
}

void rg_device_retain(rg_device *dev) {
    dev->handle.refs++;
}

void rg_device_drop(rg_device *dev) {
    if (--dev->handle.refs)
        return;
    rg_context *ctx = dev->ctx;
    if (dev->ops)
        dev->ops->close(dev);
    rg_ctx_strfree(ctx, dev->cc);
    rg_ctx_strfree(ctx, dev->cflags);
    rg_ctx_strfree(ctx, dev->cc_version);
    rg_ctx_strfree(ctx, dev->error_text);
    rg_handle_free(ctx, &dev->handle);
    rg_context_drop(ctx);
}

void rg_device_release(rg_device *dev) {
    if (!dev || rg_handle_fault(&dev->handle, RG_MAGIC_DEVICE))
        return;
    dev->handle.released = true;
    rg_device_drop(dev);
}

rg_status rg_device_stick(rg_device *dev, rg_status s) {
    if (s == RG_OK || dev->error)
        return s;
    dev->error = s;
    size_t n = strlen(dev->ctx->message) + 1;
    char *copy = dev->ctx->allocator.resize(dev->ctx->allocator.user, NULL, 0, n);
    if (copy)
        memcpy(copy, dev->ctx->message, n);
    dev->error_text = copy;
    return s;
}

rg_status rg_device_state(rg_device *dev) {
    if (dev->error == RG_OK)
        return RG_OK;
    return rg_fail(dev->ctx, dev->error, "%s",
                   dev->error_text ? dev->error_text : "an earlier launch failed");
}

rg_status rg_sync(rg_device *dev) {
    if (!dev || rg_handle_fault(&dev->handle, RG_MAGIC_DEVICE))
        return RG_ERROR_ARGUMENT;
    rg_status s = dev->ops->sync(dev);
    if (s != RG_OK)
        rg_device_stick(dev, s);
    s = rg_device_state(dev);
    dev->error = RG_OK;
    rg_ctx_strfree(dev->ctx, dev->error_text);
    dev->error_text = NULL;
    return s;
}

rg_status rg_device_read(rg_device *dev, void *to, const void *from, size_t bytes) {
    return (dev->ops->read ? dev->ops->read : dev->ops->copy)(dev, to, from, bytes);
}

rg_status rg_device_write(rg_device *dev, void *to, const void *from, size_t bytes) {
    return (dev->ops->write ? dev->ops->write : dev->ops->copy)(dev, to, from, bytes);
}

/* ---- memory of the host ---- */

enum { ALIGN = 64 };

rg_status rg_host_alloc(rg_device *dev, size_t bytes, rg_memory *out) {
    if (bytes > SIZE_MAX / 2)
        return rg_fail_memory(dev->ctx);
    /* Never empty: an array of no elements has an address too. */
    size_t size = bytes + 2 * ALIGN;
    void *base = rg_ctx_alloc(dev->ctx, size);
    if (!base)
        return RG_ERROR_MEMORY;
    uintptr_t at = ((uintptr_t)base + ALIGN - 1) / ALIGN * ALIGN;
    *out = (rg_memory){(unsigned char *)base + (at - (uintptr_t)base), base, size};
    return RG_OK;
}

void rg_host_free(rg_device *dev, rg_memory *m) {
    rg_ctx_free(dev->ctx, m->base, m->base_size);
    *m = (rg_memory){NULL, NULL, 0};
}

rg_status rg_host_copy(rg_device *dev, void *to, const void *from, size_t bytes) {
    (void)dev;
    if (bytes)
        memcpy(to, from, bytes);
    return RG_OK;
}

rg_status rg_host_zero(rg_device *dev, void *at, size_t bytes) {
    (void)dev;
    if (bytes)
        memset(at, 0, bytes);
    return RG_OK;
}
