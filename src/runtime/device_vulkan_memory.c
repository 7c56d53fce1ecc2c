/* Arrays are pieces of large blocks: one buffer each, bound or addressed as a whole. A block keeps
 * its holes sorted; a new array takes the first hole that fits, block by block, so that a program's
 * arrays end up in as few blocks as can be. Memory that is given back may be given out again at
 * once: all work is in one queue, in order, and hazards are tracked by range.
 *
 * Where the host sees the blocks, and reads them through a cache (drivers on the CPU, integrated
 * GPUs), it copies directly; elsewhere through the two halves of a staging buffer in turn. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include <stdlib.h>
#include <string.h>

enum { BLOCK_FIRST = 4 << 20, BLOCK_MOST = 256 << 20 };

static const VkBufferUsageFlags block_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT;

/* ---- memory types ---- */

static bool find_type(const rg_vk *v, uint32_t bits, VkMemoryPropertyFlags want,
                      VkMemoryPropertyFlags avoid, uint32_t *out) {
    for (uint32_t i = 0; i < v->heaps.memoryTypeCount; i++) {
        VkMemoryPropertyFlags has = v->heaps.memoryTypes[i].propertyFlags;
        if ((bits >> i & 1) && (has & want) == want && !(has & avoid)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static rg_status choose_types(rg_vk *v) {
    enum {
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        SEEN = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    };
    v->vk->GetPhysicalDeviceMemoryProperties(v->physical, &v->heaps);
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 65536,
        .usage =
            block_usage |
            (v->has_address ? (VkBufferUsageFlags)VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0)};
    VkBuffer b;
    VkResult r = v->vk->CreateBuffer(v->device, &info, NULL, &b);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkCreateBuffer", r);
    VkMemoryRequirements q;
    v->vk->GetBufferMemoryRequirements(v->device, b, &q);
    v->vk->DestroyBuffer(v->device, b, NULL);
    const char *staged = getenv("RETROGRAD_VULKAN_STAGING");
    bool may = !(staged && *staged && strcmp(staged, "0") != 0);
    v->direct = may && find_type(v, q.memoryTypeBits, LOCAL | SEEN | CACHED, 0, &v->block_type);
    uint32_t bits = q.memoryTypeBits;
    if (!v->direct && !find_type(v, bits, LOCAL, SEEN, &v->block_type) &&
        !find_type(v, bits, LOCAL, 0, &v->block_type) && !find_type(v, bits, 0, 0, &v->block_type))
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s: no memory for storage buffers", v->name);
    if (!find_type(v, UINT32_MAX, SEEN | CACHED, 0, &v->host_type) &&
        !find_type(v, UINT32_MAX, SEEN, 0, &v->host_type))
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s: no memory that the host sees", v->name);
    if (!find_type(v, UINT32_MAX, LOCAL | SEEN, 0, &v->ring_type))
        v->ring_type = v->host_type;
    return RG_OK;
}

/* ---- buffers for the host ---- */

rg_status rg_vk_buffer_make(rg_vk *v, uint64_t size, uint32_t usage, uint32_t type,
                            rg_vk_buffer *out) {
    *out = (rg_vk_buffer){.size = size};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    const char *call = "vkCreateBuffer";
    VkResult r = v->vk->CreateBuffer(v->device, &info, NULL, &out->buffer);
    if (r != VK_SUCCESS) {
        out->buffer = VK_NULL_HANDLE;
        return rg_vk_fail(v, call, r);
    }
    VkMemoryRequirements q;
    v->vk->GetBufferMemoryRequirements(v->device, out->buffer, &q);
    if (!(q.memoryTypeBits >> type & 1))
        find_type(v, q.memoryTypeBits,
                  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0,
                  &type);
    VkMemoryAllocateInfo take = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = q.size,
                                 .memoryTypeIndex = type};
    call = "vkAllocateMemory";
    r = v->vk->AllocateMemory(v->device, &take, NULL, &out->memory);
    if (r != VK_SUCCESS) {
        out->memory = VK_NULL_HANDLE;
    } else {
        call = "vkBindBufferMemory";
        r = v->vk->BindBufferMemory(v->device, out->buffer, out->memory, 0);
    }
    if (r == VK_SUCCESS) {
        void *at = NULL;
        call = "vkMapMemory";
        r = v->vk->MapMemory(v->device, out->memory, 0, VK_WHOLE_SIZE, 0, &at);
        out->host = at;
    }
    if (r == VK_SUCCESS)
        return RG_OK;
    rg_vk_buffer_free(v, out);
    return rg_vk_fail(v, call, r);
}

void rg_vk_buffer_free(rg_vk *v, rg_vk_buffer *b) {
    if (b->buffer)
        v->vk->DestroyBuffer(v->device, b->buffer, NULL);
    if (b->memory)
        v->vk->FreeMemory(v->device, b->memory, NULL);
    *b = (rg_vk_buffer){.size = 0};
}

/* ---- blocks ---- */

static bool room_for_hole(rg_vk *v, rg_vk_block *b) {
    if (b->nholes < b->cap)
        return true;
    uint32_t cap = b->cap ? b->cap * 2 : 16;
    rg_vk_range *more = rg_ctx_alloc(v->ctx, cap * sizeof *more);
    if (!more)
        return false;
    if (b->nholes)
        memcpy(more, b->holes, b->nholes * sizeof *more);
    rg_ctx_free(v->ctx, b->holes, b->cap * sizeof *more);
    b->holes = more;
    b->cap = cap;
    return true;
}

static void block_destroy(rg_vk *v, rg_vk_block *b) {
    if (b->buffer)
        v->vk->DestroyBuffer(v->device, b->buffer, NULL);
    if (b->memory)
        v->vk->FreeMemory(v->device, b->memory, NULL);
    rg_ctx_free(v->ctx, b->holes, b->cap * sizeof *b->holes);
    *b = (rg_vk_block){.size = 0};
}

/* Sets that bind a block which is gone would be found again by its number. */
static void forget_sets(rg_vk *v, uint32_t block) {
    for (rg_vk_set *s = v->sets; s; s = s->next)
        for (uint32_t i = 0; i < s->nblocks; i++)
            if (s->blocks[i] == block)
                s->class = UINT32_MAX;
}

static VkResult block_create(rg_vk *v, uint64_t size, rg_vk_block *b, const char **call) {
    *b = (rg_vk_block){.size = size};
    VkBufferUsageFlags usage = block_usage;
    if (v->has_address)
        usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    *call = "vkCreateBuffer";
    VkResult r = v->vk->CreateBuffer(v->device, &info, NULL, &b->buffer);
    if (r != VK_SUCCESS) {
        b->buffer = VK_NULL_HANDLE;
        return r;
    }
    VkMemoryRequirements q;
    v->vk->GetBufferMemoryRequirements(v->device, b->buffer, &q);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo take = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = v->has_address ? &flags : NULL,
                                 .allocationSize = q.size,
                                 .memoryTypeIndex = v->block_type};
    *call = "vkAllocateMemory";
    r = v->vk->AllocateMemory(v->device, &take, NULL, &b->memory);
    if (r != VK_SUCCESS) {
        b->memory = VK_NULL_HANDLE;
        return r;
    }
    *call = "vkBindBufferMemory";
    r = v->vk->BindBufferMemory(v->device, b->buffer, b->memory, 0);
    if (r == VK_SUCCESS && v->direct) {
        void *at = NULL;
        *call = "vkMapMemory";
        r = v->vk->MapMemory(v->device, b->memory, 0, VK_WHOLE_SIZE, 0, &at);
        b->host = at;
    }
    if (r == VK_SUCCESS && v->has_address) {
        VkBufferDeviceAddressInfo at = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                        .buffer = b->buffer};
        b->address = v->vk->GetBufferDeviceAddress(v->device, &at);
    }
    return r;
}

/* The most that one array may have: a block that is bound obeys its range's limit. */
static uint64_t block_most(const rg_vk *v) {
    uint64_t most = v->max_buffer;
    if (v->caps.addressing == RG_SPIRV_OFFSET && v->properties.limits.maxStorageBufferRange < most)
        most = v->properties.limits.maxStorageBufferRange;
    if (most > ((uint64_t)1 << RG_VK_BLOCK_BITS))
        most = (uint64_t)1 << RG_VK_BLOCK_BITS;
    return most / RG_VK_ALIGN * RG_VK_ALIGN;
}

static rg_status block_add(rg_vk *v, uint64_t bytes) {
    uint64_t most = block_most(v), size = v->next_size ? v->next_size : BLOCK_FIRST;
    if (bytes > most)
        return rg_fail(
            v->ctx, RG_ERROR_MEMORY, "%s (%s): an array of %llu bytes: the most is %llu in %s mode",
            v->name, v->properties.deviceName, (unsigned long long)bytes, (unsigned long long)most,
            v->caps.addressing == RG_SPIRV_OFFSET ? "offset" : "address");
    if (size > most)
        size = most;
    if (size < bytes)
        size = bytes;
    uint32_t at = 0;
    while (at < v->nblocks && v->blocks[at].buffer)
        at++;
    if (at == v->nblocks && at == v->cap_blocks) {
        uint32_t cap = v->cap_blocks ? v->cap_blocks * 2 : 16;
        rg_vk_block *more = rg_ctx_alloc(v->ctx, cap * sizeof *more);
        if (!more)
            return RG_ERROR_MEMORY;
        if (v->nblocks)
            memcpy(more, v->blocks, v->nblocks * sizeof *more);
        rg_ctx_free(v->ctx, v->blocks, v->cap_blocks * sizeof *more);
        v->blocks = more;
        v->cap_blocks = cap;
    }
    rg_vk_block made;
    const char *call = "";
    VkResult r = block_create(v, size, &made, &call);
    if (r == VK_ERROR_OUT_OF_DEVICE_MEMORY || r == VK_ERROR_OUT_OF_HOST_MEMORY) {
        /* Once more without the luxury: empty blocks go, and the new one is no larger than need. */
        block_destroy(v, &made);
        rg_status s = rg_vk_finish(v);
        if (s != RG_OK)
            return s;
        rg_vk_trim(v, 0);
        r = block_create(v, bytes, &made, &call);
    }
    if (r == VK_SUCCESS && !room_for_hole(v, &made)) {
        block_destroy(v, &made);
        return RG_ERROR_MEMORY;
    }
    if (r != VK_SUCCESS) {
        block_destroy(v, &made);
        return rg_vk_fail(v, call, r);
    }
    made.holes[0] = (rg_vk_range){0, made.size};
    made.nholes = 1;
    v->blocks[at] = made;
    if (at == v->nblocks)
        v->nblocks++;
    v->next_size = size * 2 > BLOCK_MOST ? BLOCK_MOST : size * 2;
    if (v->next_size < BLOCK_FIRST)
        v->next_size = BLOCK_FIRST;
    return RG_OK;
}

static bool take(rg_vk *v, uint64_t bytes, rg_memory *out) {
    for (uint32_t i = 0; i < v->nblocks; i++) {
        rg_vk_block *b = &v->blocks[i];
        if (!b->buffer || b->size - b->used < bytes)
            continue;
        for (uint32_t h = 0; h < b->nholes; h++) {
            rg_vk_range *r = &b->holes[h];
            if (r->end - r->begin < bytes)
                continue;
            uintptr_t at = (uintptr_t)(i + 1) << RG_VK_BLOCK_BITS | r->begin;
            r->begin += bytes;
            if (r->begin == r->end) {
                memmove(r, r + 1, (b->nholes - h - 1) * sizeof *r);
                b->nholes--;
            }
            b->used += bytes;
            out->at = (unsigned char *)at;
            out->base = out->at;
            out->base_size = (size_t)bytes;
            return true;
        }
    }
    return false;
}

rg_status rg_vk_alloc(rg_vk *v, uint64_t bytes, rg_memory *out) {
    *out = (rg_memory){NULL, NULL, 0};
    if (bytes > ((uint64_t)1 << RG_VK_BLOCK_BITS))
        return rg_fail(v->ctx, RG_ERROR_MEMORY, "%s: an array of %llu bytes", v->name,
                       (unsigned long long)bytes);
    /* Never empty: an array of no elements has a place too. */
    bytes = (bytes + RG_VK_ALIGN - 1) / RG_VK_ALIGN * RG_VK_ALIGN;
    if (!bytes)
        bytes = RG_VK_ALIGN;
    if (take(v, bytes, out))
        return RG_OK;
    rg_status s = block_add(v, bytes);
    if (s != RG_OK)
        return s;
    return take(v, bytes, out) ? RG_OK : rg_fail_memory(v->ctx);
}

void rg_vk_free(rg_vk *v, rg_memory *m) {
    if (!m->base)
        return;
    rg_vk_block *b = &v->blocks[rg_vk_block_of(m->at)];
    rg_vk_range freed = {rg_vk_offset_of(m->at), rg_vk_offset_of(m->at) + m->base_size};
    *m = (rg_memory){NULL, NULL, 0};
    b->used -= freed.end - freed.begin;
    uint32_t lo = 0, hi = b->nholes;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (b->holes[mid].begin < freed.begin)
            lo = mid + 1;
        else
            hi = mid;
    }
    bool before = lo > 0 && b->holes[lo - 1].end == freed.begin;
    bool after = lo < b->nholes && b->holes[lo].begin == freed.end;
    if (before && after) {
        b->holes[lo - 1].end = b->holes[lo].end;
        memmove(b->holes + lo, b->holes + lo + 1, (b->nholes - lo - 1) * sizeof *b->holes);
        b->nholes--;
    } else if (before) {
        b->holes[lo - 1].end = freed.end;
    } else if (after) {
        b->holes[lo].begin = freed.begin;
    } else if (room_for_hole(v, b)) {
        memmove(b->holes + lo + 1, b->holes + lo, (b->nholes - lo) * sizeof *b->holes);
        b->holes[lo] = freed;
        b->nholes++;
    } /* else: out of memory for the note of it; the range stays unused while the block lives */
}

void rg_vk_trim(rg_vk *v, uint64_t keep) {
    for (uint32_t i = 0; i < v->nblocks; i++) {
        rg_vk_block *b = &v->blocks[i];
        if (!b->buffer || b->used)
            continue;
        if (b->size <= keep) {
            keep -= b->size;
            continue;
        }
        forget_sets(v, i);
        block_destroy(v, b);
    }
}

/* ---- commands on memory ---- */

static VkBuffer buffer_of(const rg_vk *v, const void *at) {
    return v->blocks[rg_vk_block_of(at)].buffer;
}

static rg_status command(rg_vk *v, const rg_vk_touch *t, uint32_t n) {
    rg_status s = rg_vk_begin(v);
    if (s == RG_OK)
        rg_vk_touch_begin(v, t, n);
    v->recorded++;
    return s;
}

rg_status rg_vk_copy(rg_vk *v, unsigned char *to, const unsigned char *from, uint64_t bytes) {
    if (!bytes || to == from)
        return RG_OK;
    rg_vk_touch t[2] = {{(uintptr_t)from, (uintptr_t)from + bytes, false},
                        {(uintptr_t)to, (uintptr_t)to + bytes, true}};
    bool overlap = t[0].begin < t[1].end && t[1].begin < t[0].end;
    if (overlap) { /* a copy between overlapping ranges has no meaning: through memory of its own */
        rg_memory m;
        rg_status s = rg_vk_alloc(v, bytes, &m);
        if (s == RG_OK)
            s = rg_vk_copy(v, m.at, from, bytes);
        if (s == RG_OK)
            s = rg_vk_copy(v, to, m.at, bytes);
        rg_vk_free(v, &m);
        return s;
    }
    rg_status s = command(v, t, 2);
    if (s != RG_OK)
        return s;
    VkBufferCopy c = {rg_vk_offset_of(from), rg_vk_offset_of(to), bytes};
    v->vk->CmdCopyBuffer(v->frames[v->frame].commands, buffer_of(v, from), buffer_of(v, to), 1, &c);
    return RG_OK;
}

/* Fills work on words; what is left over at the ends of a view is copied from the words of zeros
 * that the ring begins with. */
rg_status rg_vk_zero(rg_vk *v, unsigned char *at, uint64_t bytes) {
    if (!bytes)
        return RG_OK;
    rg_vk_touch t = {(uintptr_t)at, (uintptr_t)at + bytes, true};
    rg_status s = command(v, &t, 1);
    if (s != RG_OK)
        return s;
    VkCommandBuffer cb = v->frames[v->frame].commands;
    uint64_t begin = rg_vk_offset_of(at), end = begin + bytes;
    uint64_t first = (begin + 3) / 4 * 4, last = end / 4 * 4;
    if (first >= last) /* a few bytes, in at most two words */
        first = last = begin;
    if (first > begin) {
        VkBufferCopy c = {RG_VK_RING, begin, first - begin};
        v->vk->CmdCopyBuffer(cb, v->ring.buffer, buffer_of(v, at), 1, &c);
    }
    if (last > first)
        v->vk->CmdFillBuffer(cb, buffer_of(v, at), first, last - first, 0);
    if (end > last) {
        VkBufferCopy c = {RG_VK_RING, last, end - last};
        v->vk->CmdCopyBuffer(cb, v->ring.buffer, buffer_of(v, at), 1, &c);
    }
    return RG_OK;
}

static rg_status stage_half(rg_vk *v, uint32_t *out) {
    if (!v->stage.buffer) {
        rg_status s = rg_vk_buffer_make(
            v, 2 * RG_VK_STAGE, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            v->host_type, &v->stage);
        if (s != RG_OK)
            return s;
    }
    *out = v->stage_half;
    v->stage_half ^= 1;
    return rg_vk_wait(v, v->stage_value[*out]);
}

rg_status rg_vk_read(rg_vk *v, void *to, const unsigned char *from, uint64_t bytes) {
    if (!bytes)
        return RG_OK;
    const rg_vk_block *b = &v->blocks[rg_vk_block_of(from)];
    if (b->host) {
        rg_status s = rg_vk_finish(v);
        if (s == RG_OK)
            memcpy(to, b->host + rg_vk_offset_of(from), (size_t)bytes);
        return s;
    }
    /* Half k + 1 is on its way while half k is taken out. */
    uint64_t done = 0, asked = 0;
    uint32_t half[2] = {0, 0}, turn = 0;
    while (done < bytes) {
        if (asked < bytes) {
            uint64_t n = bytes - asked < RG_VK_STAGE ? bytes - asked : RG_VK_STAGE;
            rg_vk_touch t = {(uintptr_t)from + asked, (uintptr_t)from + asked + n, false};
            uint32_t h;
            rg_status s = stage_half(v, &h);
            if (s == RG_OK)
                s = command(v, &t, 1);
            if (s != RG_OK)
                return s;
            VkBufferCopy c = {rg_vk_offset_of(from) + asked, (uint64_t)h * RG_VK_STAGE, n};
            v->vk->CmdCopyBuffer(v->frames[v->frame].commands, b->buffer, v->stage.buffer, 1, &c);
            s = rg_vk_flush(v);
            if (s != RG_OK)
                return s;
            v->stage_value[h] = v->submitted;
            half[turn & 1] = h;
            asked += n;
            turn++;
            if (turn == 1 && asked < bytes)
                continue;
        }
        uint32_t h = half[(done / RG_VK_STAGE) & 1];
        uint64_t n = bytes - done < RG_VK_STAGE ? bytes - done : RG_VK_STAGE;
        rg_status s = rg_vk_wait(v, v->stage_value[h]);
        if (s != RG_OK)
            return s;
        memcpy((char *)to + done, v->stage.host + (size_t)h * RG_VK_STAGE, (size_t)n);
        done += n;
    }
    return RG_OK;
}

rg_status rg_vk_write(rg_vk *v, unsigned char *to, const void *from, uint64_t bytes) {
    if (!bytes)
        return RG_OK;
    const rg_vk_block *b = &v->blocks[rg_vk_block_of(to)];
    if (b->host) {
        rg_status s = rg_vk_finish(v);
        if (s == RG_OK)
            memcpy(b->host + rg_vk_offset_of(to), from, (size_t)bytes);
        return s;
    }
    for (uint64_t done = 0; done < bytes;) {
        uint64_t n = bytes - done < RG_VK_STAGE ? bytes - done : RG_VK_STAGE;
        rg_vk_touch t = {(uintptr_t)to + done, (uintptr_t)to + done + n, true};
        uint32_t h;
        rg_status s = stage_half(v, &h);
        if (s != RG_OK)
            return s;
        memcpy(v->stage.host + (size_t)h * RG_VK_STAGE, (const char *)from + done, (size_t)n);
        s = command(v, &t, 1);
        if (s != RG_OK)
            return s;
        VkBufferCopy c = {(uint64_t)h * RG_VK_STAGE, rg_vk_offset_of(to) + done, n};
        v->vk->CmdCopyBuffer(v->frames[v->frame].commands, v->stage.buffer, b->buffer, 1, &c);
        s = rg_vk_flush(v);
        if (s != RG_OK)
            return s;
        v->stage_value[h] = v->submitted;
        done += n;
    }
    return RG_OK;
}

rg_status rg_vk_memory_open(rg_vk *v) {
    rg_status s = choose_types(v);
    if (s != RG_OK)
        return s;
    /* Behind the ring: room for the last block's descriptor range, and words of zeros. */
    s = rg_vk_buffer_make(v, 2 * (uint64_t)RG_VK_RING + 64,
                          VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                          v->ring_type, &v->ring);
    if (s == RG_OK)
        memset(v->ring.host + RG_VK_RING, 0, 64);
    return s;
}

void rg_vk_memory_close(rg_vk *v) {
    for (uint32_t i = 0; i < v->nblocks; i++)
        block_destroy(v, &v->blocks[i]);
    rg_ctx_free(v->ctx, v->blocks, v->cap_blocks * sizeof *v->blocks);
    v->blocks = NULL;
    v->nblocks = v->cap_blocks = 0;
    rg_vk_buffer_free(v, &v->ring);
    rg_vk_buffer_free(v, &v->stage);
}

#else
typedef int rg_vk_not_built;
#endif
