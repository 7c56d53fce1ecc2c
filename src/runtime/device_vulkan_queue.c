/* One queue, one timeline. Commands are recorded into the command buffers in turn; many launches go
 * in one submission, which is made when somebody waits, when it is long enough, or when the ring of
 * argument blocks runs full.
 *
 * Between two commands there is a barrier only if they conflict: the ranges touched since the last
 * barrier are remembered, with whether they were written. A barrier orders everything, so it
 * empties the list; so does a list that gets too long. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include <string.h>

rg_status rg_vk_queue_open(rg_vk *v) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = v->family};
    VkResult r = v->vk->CreateCommandPool(v->device, &pool, NULL, &v->command_pool);
    if (r != VK_SUCCESS) {
        v->command_pool = VK_NULL_HANDLE;
        return rg_vk_fail(v, "vkCreateCommandPool", r);
    }
    VkCommandBuffer buffers[RG_VK_FRAMES];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = v->command_pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = RG_VK_FRAMES};
    r = v->vk->AllocateCommandBuffers(v->device, &info, buffers);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkAllocateCommandBuffers", r);
    for (uint32_t i = 0; i < RG_VK_FRAMES; i++)
        v->frames[i].commands = buffers[i];
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
    r = v->vk->CreateSemaphore(v->device, &semaphore, NULL, &v->timeline);
    if (r != VK_SUCCESS) {
        v->timeline = VK_NULL_HANDLE;
        return rg_vk_fail(v, "vkCreateSemaphore", r);
    }
    return RG_OK;
}

void rg_vk_queue_close(rg_vk *v) {
    if (v->timeline)
        v->vk->DestroySemaphore(v->device, v->timeline, NULL);
    if (v->command_pool)
        v->vk->DestroyCommandPool(v->device, v->command_pool, NULL);
    v->timeline = VK_NULL_HANDLE;
    v->command_pool = VK_NULL_HANDLE;
}

static rg_status lost(rg_vk *v) {
    return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s): the device is lost", v->name,
                   v->properties.deviceName);
}

rg_status rg_vk_begin(rg_vk *v) {
    if (v->lost)
        return lost(v);
    if (v->open)
        return RG_OK;
    rg_vk_frame *f = &v->frames[v->frame];
    rg_status s = rg_vk_wait(v, f->value);
    if (s != RG_OK)
        return s;
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult r = v->vk->BeginCommandBuffer(f->commands, &info);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkBeginCommandBuffer", r);
    v->open = true;
    v->recorded = 0;
    v->bound = VK_NULL_HANDLE;
    return RG_OK;
}

static void barrier(rg_vk *v, VkPipelineStageFlags to, VkAccessFlags access) {
    VkMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                         .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                         .dstAccessMask = access};
    v->vk->CmdPipelineBarrier(v->frames[v->frame].commands,
                              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                              to, 0, 1, &b, 0, NULL, 0, NULL);
}

void rg_vk_touch_begin(rg_vk *v, const rg_vk_touch *t, uint32_t n) {
    bool conflict = v->ntouches + n > RG_VK_TOUCHES;
    for (uint32_t i = 0; i < n && !conflict; i++)
        for (uint32_t k = 0; k < v->ntouches && !conflict; k++) {
            const rg_vk_touch *o = &v->touches[k];
            conflict = (o->write || t[i].write) && o->begin < t[i].end && t[i].begin < o->end;
        }
    if (conflict) {
        barrier(v, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                    VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        v->barriers++;
        v->ntouches = 0;
    }
    if (n > RG_VK_TOUCHES) { /* too many to tell apart: whatever comes next waits */
        v->touches[0] = (rg_vk_touch){0, UINT64_MAX, true};
        v->ntouches = 1;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < v->ntouches && !known; k++) {
            rg_vk_touch *o = &v->touches[k];
            known = o->begin <= t[i].begin && o->end >= t[i].end && (o->write || !t[i].write);
        }
        if (!known)
            v->touches[v->ntouches++] = t[i];
    }
}

rg_status rg_vk_flush(rg_vk *v) {
    if (v->lost)
        return lost(v);
    if (!v->open)
        return RG_OK;
    rg_vk_frame *f = &v->frames[v->frame];
    barrier(v, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
    v->open = false;
    VkResult r = v->vk->EndCommandBuffer(f->commands);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkEndCommandBuffer", r);
    uint64_t value = v->submitted + 1;
    VkTimelineSemaphoreSubmitInfo times = {.sType =
                                               VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                           .signalSemaphoreValueCount = 1,
                                           .pSignalSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &times,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &f->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &v->timeline};
    r = v->vk->QueueSubmit(v->queue, 1, &info, VK_NULL_HANDLE);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkQueueSubmit", r);
    v->submissions++;
    v->submitted = value;
    f->value = value;
    f->ring_end = v->ring_head;
    v->frame = (v->frame + 1) % RG_VK_FRAMES;
    return RG_OK;
}

static void passed(rg_vk *v, uint64_t value) {
    if (value <= v->completed)
        return;
    v->completed = value;
    for (uint32_t i = 0; i < RG_VK_FRAMES; i++)
        if (v->frames[i].value <= value && v->frames[i].ring_end > v->ring_tail)
            v->ring_tail = v->frames[i].ring_end;
}

bool rg_vk_passed(rg_vk *v, uint64_t value) {
    if (value <= v->completed)
        return true;
    uint64_t now = 0;
    if (v->vk->GetSemaphoreCounterValue(v->device, v->timeline, &now) == VK_SUCCESS)
        passed(v, now);
    return value <= v->completed;
}

rg_status rg_vk_wait(rg_vk *v, uint64_t value) {
    if (v->lost)
        return lost(v);
    if (value <= v->completed)
        return RG_OK;
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &v->timeline,
                                .pValues = &value};
    VkResult r = v->vk->WaitSemaphores(v->device, &info, UINT64_MAX);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkWaitSemaphores", r);
    passed(v, value);
    return RG_OK;
}

rg_status rg_vk_finish(rg_vk *v) {
    rg_status s = rg_vk_flush(v);
    return s == RG_OK ? rg_vk_wait(v, v->submitted) : s;
}

/* The ring's numbers only grow; a block never lies across the end. */
rg_status rg_vk_ring(rg_vk *v, uint32_t class, uint32_t size, unsigned char **at,
                     uint32_t *offset) {
    uint64_t align = v->properties.limits.minStorageBufferOffsetAlignment;
    if (align < 64)
        align = 64;
    if (((uint64_t)256 << class) > RG_VK_RING)
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s: an argument block of %u bytes: %d is the most",
                       v->name, size, (int)RG_VK_RING);
    for (;;) {
        uint64_t head = (v->ring_head + align - 1) / align * align;
        if (head % RG_VK_RING + size > RG_VK_RING)
            head = (head / RG_VK_RING + 1) * RG_VK_RING;
        if (head + size <= v->ring_tail + RG_VK_RING) {
            rg_status s = rg_vk_begin(v);
            if (s != RG_OK)
                return s;
            v->ring_head = head + size;
            *offset = (uint32_t)(head % RG_VK_RING);
            *at = v->ring.host + *offset;
            return RG_OK;
        }
        /* Full: the oldest submission that still runs gives room. */
        if (v->completed == v->submitted) {
            rg_status s = rg_vk_flush(v);
            if (s != RG_OK)
                return s;
            if (v->completed == v->submitted) { /* nothing is under way: all of it is free */
                v->ring_tail = v->ring_head;
                if (head + size > v->ring_tail + RG_VK_RING)
                    v->ring_head = v->ring_tail = head;
                continue;
            }
        }
        rg_status s = rg_vk_wait(v, v->completed + 1);
        if (s != RG_OK)
            return s;
    }
}

#else
typedef int rg_vk_not_built;
#endif
