/* The Vulkan device's place in the list of devices. Where this build was made without Vulkan's
 * headers the device is there too, and says so. */
#include "runtime/device_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RG_HAVE_VULKAN

static rg_status open_device(rg_device *dev) {
    if (dev->options.checked || dev->options.races)
        return rg_fail(dev->ctx, RG_ERROR_UNSUPPORTED,
                       "the vulkan device does not run checked: the device '%s' does",
                       dev->options.races ? "ref" : "cpu");
    rg_vk *v = rg_ctx_alloc(dev->ctx, sizeof *v);
    if (!v)
        return RG_ERROR_MEMORY;
    v->dev = dev;
    v->ctx = dev->ctx;
    if (dev->index)
        snprintf(v->name, sizeof v->name, "vulkan:%u", dev->index);
    else
        snprintf(v->name, sizeof v->name, "vulkan");
    dev->state = v;
    rg_status s = rg_vk_open(v, dev->index);
    if (s == RG_OK) {
        dev->ops = &rg_device_vulkan; /* the probe launches kernels like anybody else */
        s = rg_vk_probe_run(v);
        dev->ops = NULL;
    }
    if (s != RG_OK) {
        rg_vk_close(v);
        rg_ctx_free(dev->ctx, v, sizeof *v);
        dev->state = NULL;
    }
    return s;
}

static void close_device(rg_device *dev) {
    rg_vk *v = dev->state;
    rg_vk_close(v);
    rg_ctx_free(dev->ctx, v, sizeof *v);
}

static rg_status alloc(rg_device *dev, size_t bytes, rg_memory *out) {
    rg_vk *v = dev->state;
    rg_status s = rg_vk_alloc(v, bytes, out);
    if (s != RG_OK)
        return s;
    s = rg_vk_zero(v, out->at, out->base_size);
    if (s != RG_OK)
        rg_vk_free(v, out);
    return s;
}

static void free_memory(rg_device *dev, rg_memory *m) {
    rg_vk_free(dev->state, m);
}

static rg_status copy(rg_device *dev, void *to, const void *from, size_t bytes) {
    return rg_vk_copy(dev->state, to, from, bytes);
}

/* Whoever asks for the validation layers wants to know what they say: it is an error, once. */
static rg_status said(rg_vk *v, rg_status s) {
    if (s != RG_OK || v->messages.count == v->messages.told)
        return s;
    v->messages.told = v->messages.count;
    return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s): the validation layer says: %s", v->name,
                   v->properties.deviceName, v->messages.first);
}

static rg_status read_memory(rg_device *dev, void *to, const void *from, size_t bytes) {
    return said(dev->state, rg_vk_read(dev->state, to, from, bytes));
}

static rg_status write_memory(rg_device *dev, void *to, const void *from, size_t bytes) {
    return rg_vk_write(dev->state, to, from, bytes);
}

static rg_status zero(rg_device *dev, void *at, size_t bytes) {
    return rg_vk_zero(dev->state, at, bytes);
}

static rg_status prepare(rg_device *dev, rg_program *const *p, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        rg_status s = p[i]->ready ? RG_OK : rg_vk_prepare(dev->state, p[i]);
        if (s != RG_OK)
            return s;
    }
    return RG_OK;
}

static rg_status launch(rg_device *dev, rg_program *p, const rg_binding *args) {
    return rg_vk_launch(dev->state, p->entry, args);
}

static rg_status sync_device(rg_device *dev) {
    rg_vk *v = dev->state;
    rg_status s = rg_vk_finish(v);
    if (s == RG_OK)
        rg_vk_trim(v, (uint64_t)256 << 20);
    if (s == RG_OK)
        s = rg_vk_guards(v);
    return said(v, s);
}

static void unload(rg_device *dev, void *code) {
    rg_vk_unload(dev->state, code);
}

static uint32_t count(void) {
    return rg_vk_count();
}

static void describe(rg_context *ctx, rg_device_info *out) {
    rg_vk_describe(ctx, out);
}

const rg_device_ops rg_device_vulkan = {"vulkan",    describe, open_device, close_device, alloc,
                                        free_memory, copy,     read_memory, write_memory, zero,
                                        prepare,     launch,   sync_device, unload,       count};

#else

static const char words[] = "this build was made without Vulkan (libvulkan-dev)";

static void describe(rg_context *ctx, rg_device_info *out) {
    (void)ctx;
    snprintf(out->why_not, sizeof out->why_not, "%s", words);
}

static rg_status open_device(rg_device *dev) {
    return rg_fail(dev->ctx, RG_ERROR_DEVICE, "vulkan: %s", words);
}

/* Never opened, so the rest is never called. */
const rg_device_ops rg_device_vulkan = {"vulkan", describe, open_device, NULL, NULL,
                                        NULL,     NULL,     NULL,        NULL, NULL,
                                        NULL,     NULL,     NULL,        NULL, NULL};
#endif
