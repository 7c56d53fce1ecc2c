/* The Vulkan device, inside: what its files share.
 *
 *     device_vulkan_api      the loader's library, the table of entry points, the instance
 *     device_vulkan_open     physical devices, features, the logical device
 *     device_vulkan_memory   blocks, sub-allocation, staging
 *     device_vulkan_queue    command buffers, submissions, hazards, argument blocks
 *     device_vulkan_program  modules, pipelines, descriptor sets, the pipeline cache
 *     device_vulkan_probe    what the driver was measured to do right
 *     device_vulkan          the device's operations: launch, and the rest
 *
 * An address of the runtime (rg_memory.at, rg_binding.data) is this device's own, never the
 * driver's and never dereferenced: number of the block + 1 in the high 24 bits, offset into it in
 * the low 40. So both addressing modes, overlaps and views are sums on one number. */
#ifndef RG_RUNTIME_DEVICE_VULKAN_H
#define RG_RUNTIME_DEVICE_VULKAN_H

#include "runtime/module.h"

#include "emit/spirv/emit_spirv.h"
#include "runtime/walk.h"

#if defined(__has_include)
#if __has_include(<vulkan/vulkan_core.h>)
#define RG_HAVE_VULKAN 1
#endif
#endif

#ifdef RG_HAVE_VULKAN

#include <vulkan/vulkan_core.h>

/* ---- entry points ---- */

/* X(name, required): every call that the device makes goes through one table of these, so that a
 * test can put itself in between. */
#define RG_VK_GLOBAL(X)                                                                            \
    X(CreateInstance, true)                                                                        \
    X(EnumerateInstanceVersion, false)                                                             \
    X(EnumerateInstanceExtensionProperties, true)                                                  \
    X(EnumerateInstanceLayerProperties, true)
#define RG_VK_INSTANCE(X)                                                                          \
    X(DestroyInstance, true)                                                                       \
    X(EnumeratePhysicalDevices, true)                                                              \
    X(GetPhysicalDeviceProperties, true)                                                           \
    X(GetPhysicalDeviceProperties2, true)                                                          \
    X(GetPhysicalDeviceFeatures2, true)                                                            \
    X(GetPhysicalDeviceQueueFamilyProperties, true)                                                \
    X(GetPhysicalDeviceMemoryProperties, true)                                                     \
    X(EnumerateDeviceExtensionProperties, true)                                                    \
    X(CreateDevice, true)                                                                          \
    X(GetDeviceProcAddr, true)                                                                     \
    X(CreateDebugUtilsMessengerEXT, false)                                                         \
    X(DestroyDebugUtilsMessengerEXT, false)
#define RG_VK_DEVICE(X)                                                                            \
    X(DestroyDevice, true)                                                                         \
    X(GetDeviceQueue, true)                                                                        \
    X(DeviceWaitIdle, true)                                                                        \
    X(QueueSubmit, true)                                                                           \
    X(AllocateMemory, true)                                                                        \
    X(FreeMemory, true)                                                                            \
    X(MapMemory, true)                                                                             \
    X(CreateBuffer, true)                                                                          \
    X(DestroyBuffer, true)                                                                         \
    X(GetBufferMemoryRequirements, true)                                                           \
    X(BindBufferMemory, true)                                                                      \
    X(GetBufferDeviceAddress, false)                                                               \
    X(CreateSemaphore, true)                                                                       \
    X(DestroySemaphore, true)                                                                      \
    X(WaitSemaphores, true)                                                                        \
    X(GetSemaphoreCounterValue, true)                                                              \
    X(CreateCommandPool, true)                                                                     \
    X(DestroyCommandPool, true)                                                                    \
    X(AllocateCommandBuffers, true)                                                                \
    X(BeginCommandBuffer, true)                                                                    \
    X(EndCommandBuffer, true)                                                                      \
    X(CmdBindPipeline, true)                                                                       \
    X(CmdBindDescriptorSets, true)                                                                 \
    X(CmdDispatch, true)                                                                           \
    X(CmdPipelineBarrier, true)                                                                    \
    X(CmdCopyBuffer, true)                                                                         \
    X(CmdFillBuffer, true)                                                                         \
    X(CmdUpdateBuffer, true)                                                                       \
    X(CreateShaderModule, true)                                                                    \
    X(DestroyShaderModule, true)                                                                   \
    X(CreateComputePipelines, true)                                                                \
    X(DestroyPipeline, true)                                                                       \
    X(CreatePipelineLayout, true)                                                                  \
    X(DestroyPipelineLayout, true)                                                                 \
    X(CreateDescriptorSetLayout, true)                                                             \
    X(DestroyDescriptorSetLayout, true)                                                            \
    X(CreateDescriptorPool, true)                                                                  \
    X(DestroyDescriptorPool, true)                                                                 \
    X(AllocateDescriptorSets, true)                                                                \
    X(UpdateDescriptorSets, true)                                                                  \
    X(CreatePipelineCache, true)                                                                   \
    X(GetPipelineCacheData, true)                                                                  \
    X(DestroyPipelineCache, true)

typedef struct rg_vk_api {
    void *library;
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define X(name, required) PFN_vk##name name;
    RG_VK_GLOBAL(X) RG_VK_INSTANCE(X) RG_VK_DEVICE(X)
#undef X
} rg_vk_api;

/* For tests: called with the table of each device that is opened, when it is complete. */
extern void (*rg_vk_wrap)(rg_vk_api *api);
/* The same before an instance is made: what needs none is there. */
extern void (*rg_vk_wrap_global)(rg_vk_api *api);

/* ---- the instance ---- */

/* Newer than some headers. */
#ifndef VK_EXT_layer_settings
#define VK_EXT_LAYER_SETTINGS_EXTENSION_NAME "VK_EXT_layer_settings"
#define VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT ((VkStructureType)1000496000)
typedef enum VkLayerSettingTypeEXT { VK_LAYER_SETTING_TYPE_UINT32_EXT = 3 } VkLayerSettingTypeEXT;
typedef struct VkLayerSettingEXT {
    const char *pLayerName, *pSettingName;
    VkLayerSettingTypeEXT type;
    uint32_t valueCount;
    const void *pValues;
} VkLayerSettingEXT;
typedef struct VkLayerSettingsCreateInfoEXT {
    VkStructureType sType;
    const void *pNext;
    uint32_t settingCount;
    const VkLayerSettingEXT *pSettings;
} VkLayerSettingsCreateInfoEXT;
#endif

typedef struct rg_vk_messages { /* of the validation layers */
    uint32_t count, told;       /* told: of these an error was returned for */
    char first[2000];
} rg_vk_messages;

typedef struct rg_vk_instance {
    rg_vk_api api;
    VkInstance handle;
    uint32_t version;
    bool validation;
    VkDebugUtilsMessengerEXT messenger;
    rg_vk_messages *messages;
} rg_vk_instance;

/* False: *why (static or in why's room of 160) says why not. messages may be NULL. */
bool rg_vk_instance_open(rg_vk_instance *in, rg_vk_messages *messages, char why[160]);
void rg_vk_instance_close(rg_vk_instance *in);
/* Loads the device's entry points. */
bool rg_vk_api_device(rg_vk_api *api, VkDevice device, char why[160]);
const char *rg_vk_result_name(VkResult r);

/* ---- memory ---- */

enum { RG_VK_BLOCK_BITS = 40, RG_VK_ALIGN = 128 };

typedef struct rg_vk_range {
    uint64_t begin, end;
} rg_vk_range;

typedef struct rg_vk_block {
    VkBuffer buffer; /* of the whole block; null: the place in the table is free */
    VkDeviceMemory memory;
    uint64_t size;
    uint64_t used;
    VkDeviceAddress address; /* 0: no addresses */
    unsigned char *host;     /* NULL: the host cannot see it */
    rg_vk_range *holes;      /* sorted, disjoint, never adjacent */
    uint32_t nholes, cap;
} rg_vk_block;

/* A buffer that the host writes or reads. */
typedef struct rg_vk_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t size;
    unsigned char *host;
} rg_vk_buffer;

/* ---- the queue ---- */

enum {
    RG_VK_FRAMES = 8,     /* command buffers in turn */
    RG_VK_FLUSH = 64,     /* dispatches in one submission */
    RG_VK_TOUCHES = 512,  /* ranges remembered since the last barrier */
    RG_VK_RING = 4 << 20, /* bytes of argument blocks */
    RG_VK_STAGE = 8 << 20 /* bytes of each half of the staging buffer */
};

typedef struct rg_vk_touch {
    uint64_t begin, end;
    bool write;
} rg_vk_touch;

typedef struct rg_vk_frame {
    VkCommandBuffer commands;
    uint64_t value;    /* the timeline's, when it has run */
    uint64_t ring_end; /* the ring is free up to here then */
} rg_vk_frame;

/* ---- what was measured ---- */

typedef struct rg_vk_probe {
    bool tried[2]; /* by rg_spirv_addressing */
    bool mode_ok[2];
    char failing[2][48]; /* the first probe that failed */
    rg_spirv_caps caps[2];
} rg_vk_probe;

/* ---- programs ---- */

typedef struct rg_vk rg_vk;

typedef struct rg_vk_set { /* a descriptor set for a size of argument block and a list of blocks */
    struct rg_vk_set *next;
    uint32_t class, nblocks;
    VkDescriptorSet set;
    uint32_t blocks[];
} rg_vk_set;

typedef struct rg_vk_layout { /* for a number of blocks */
    struct rg_vk_layout *next;
    uint32_t nblocks;
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
} rg_vk_layout;

typedef struct rg_vk_pool {
    struct rg_vk_pool *next;
    VkDescriptorPool pool;
    uint32_t sets; /* left */
} rg_vk_pool;

/* Which of the blocks that a dispatch binds its memory lies in (offset mode; all 0 in the other).
 */
typedef struct rg_vk_places {
    uint32_t nblocks; /* bound */
    uint32_t slots, scratch;
    bool index64;
    uint32_t *block_of; /* [task.arrays.n] */
    uint32_t *blocks;   /* [task.arrays.n + 2] numbers of the blocks bound */
} rg_vk_places;

/* A task's pipeline for one assignment of its memory to blocks. */
typedef struct rg_vk_pipeline {
    struct rg_vk_pipeline *next;
    VkPipeline pipeline;
    rg_vk_layout *layout;
    uint32_t workgroup;
    rg_vk_places places; /* blocks: not set */
} rg_vk_pipeline;

typedef struct rg_vk_task {
    rg_task_layout *layout;
    uint32_t class;
    bool slots;                /* uses some */
    uint32_t lanes;            /* iterations that an invocation takes at a time */
    rg_vk_pipeline *pipelines; /* the one used last comes first */
    rg_vk_places places;       /* of the dispatch being made */
    rg_vk_touch *touches;      /* [task.arrays.n + 2] */
    rg_vk_set *last_set;
} rg_vk_task;

typedef struct rg_vk_program {
    struct rg_vk_program *next; /* in its module */
    rg_vk *v;
    rg_arena *arena;
    rg_program *program;
    const rg_fn *fn;
    rg_task_plan *plan;
    rg_vk_task *tasks;
    rg_walk *walk;
    uint32_t narrays; /* these two are kept apart: fn goes before the program does */
    char name[64];
    unsigned char **at; /* [arrays.n] where each array is */
    uint64_t *bytes;    /* [arrays.n] */
    uint8_t *use;       /* [arrays.n] RG_TASK_ bits of all tasks */
    rg_memory *own;     /* [arrays.n] local arrays, and arguments that had to be moved */
    rg_memory *saved;   /* [arrays.n] what a task overwrites that may have to run again */
    rg_memory slots, saved_slots;
    uint32_t guard;                     /* slot that a loop writes which the driver ended */
    struct rg_vk_program *next_guarded; /* launched since it was last looked at */
    bool guarded;
} rg_vk_program;

/* ---- the device ---- */

struct rg_vk {
    rg_device *dev;
    rg_context *ctx;
    rg_vk_instance instance;
    rg_vk_api *vk; /* the instance's */
    rg_vk_messages messages;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    bool lost;

    /* what it is */
    char name[64];
    uint32_t api_version;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceDriverProperties driver;
    unsigned char uuid[3][VK_UUID_SIZE]; /* device, driver, pipeline cache */
    uint64_t max_allocation, max_buffer;
    bool has_address;
    bool few;              /* tests: no task is spread thin to fill the device */
    rg_spirv_caps offered; /* what the driver says it can */
    rg_spirv_caps caps;    /* what is used */
    rg_vk_probe probe;

    /* memory */
    VkPhysicalDeviceMemoryProperties heaps;
    bool direct; /* blocks are seen by the host, and fast to read */
    uint32_t block_type, host_type, ring_type;
    rg_vk_block *blocks;
    uint32_t nblocks, cap_blocks;
    uint64_t next_size; /* of the next block */
    rg_vk_buffer stage;
    uint64_t stage_value[2];
    uint32_t stage_half;

    /* the queue */
    VkCommandPool command_pool;
    VkSemaphore timeline;
    rg_vk_frame frames[RG_VK_FRAMES];
    uint32_t frame;
    bool open;                     /* frames[frame] is recording */
    uint32_t recorded;             /* commands in it */
    uint64_t submitted, completed; /* timeline values */
    rg_vk_buffer ring;
    uint64_t ring_head, ring_tail; /* ever growing; the place is modulo RG_VK_RING */
    rg_vk_touch touches[RG_VK_TOUCHES];
    uint32_t ntouches;
    VkPipeline bound;
    uint64_t dispatches, barriers, submissions; /* counted, for tests */

    /* programs */
    VkPipelineCache pipeline_cache;
    bool pipelines_new;
    rg_vk_layout *layouts;
    rg_vk_set *sets;
    rg_vk_pool *pools;
    rg_vk_program *guarded;
};

/* Names the call that failed; returns the status that fits. */
rg_status rg_vk_fail(rg_vk *v, const char *call, VkResult r);

static inline uint32_t rg_vk_block_of(const void *at) {
    return (uint32_t)((uintptr_t)at >> RG_VK_BLOCK_BITS) - 1;
}
static inline uint64_t rg_vk_offset_of(const void *at) {
    return (uintptr_t)at & (((uint64_t)1 << RG_VK_BLOCK_BITS) - 1);
}

/* open */
uint32_t rg_vk_count(void);
void rg_vk_describe(rg_context *ctx, rg_device_info *out);
rg_status rg_vk_open(rg_vk *v, uint32_t index);
void rg_vk_close(rg_vk *v);

/* memory */
rg_status rg_vk_memory_open(rg_vk *v);
void rg_vk_memory_close(rg_vk *v);
/* Not zero-filled. NULL with a message when out of memory. */
rg_status rg_vk_alloc(rg_vk *v, uint64_t bytes, rg_memory *out);
void rg_vk_free(rg_vk *v, rg_memory *m);
/* Frees what blocks are empty; everything has run. */
void rg_vk_trim(rg_vk *v, uint64_t keep);
rg_status rg_vk_read(rg_vk *v, void *to, const unsigned char *from, uint64_t bytes);
rg_status rg_vk_write(rg_vk *v, unsigned char *to, const void *from, uint64_t bytes);
rg_status rg_vk_copy(rg_vk *v, unsigned char *to, const unsigned char *from, uint64_t bytes);
rg_status rg_vk_zero(rg_vk *v, unsigned char *at, uint64_t bytes);
/* A buffer for the host; usage is VK_BUFFER_USAGE_. */
rg_status rg_vk_buffer_make(rg_vk *v, uint64_t size, uint32_t usage, uint32_t type,
                            rg_vk_buffer *out);
void rg_vk_buffer_free(rg_vk *v, rg_vk_buffer *b);

/* queue */
rg_status rg_vk_queue_open(rg_vk *v);
void rg_vk_queue_close(rg_vk *v);
rg_status rg_vk_begin(rg_vk *v);                /* opens a command buffer, if none is open */
rg_status rg_vk_flush(rg_vk *v);                /* submits it, if one is open */
rg_status rg_vk_wait(rg_vk *v, uint64_t value); /* until the timeline has that value */
rg_status rg_vk_finish(rg_vk *v);               /* flushes and waits for everything */
bool rg_vk_passed(rg_vk *v, uint64_t value);    /* without waiting */
/* Before a command that touches these ranges: a barrier if an earlier one is in the way. */
void rg_vk_touch_begin(rg_vk *v, const rg_vk_touch *t, uint32_t n);
/* Room for an argument block; its offset in the ring. Opens a command buffer. */
rg_status rg_vk_ring(rg_vk *v, uint32_t class, uint32_t size, unsigned char **at, uint32_t *offset);

/* programs */
rg_status rg_vk_programs_open(rg_vk *v);
void rg_vk_programs_close(rg_vk *v);
rg_status rg_vk_prepare(rg_vk *v, rg_program *p);
void rg_vk_unload(rg_vk *v, rg_vk_program *list);
/* The task's pipeline and descriptor set for its places. */
rg_status rg_vk_pipeline_get(rg_vk *v, rg_vk_program *p, uint32_t t, rg_vk_pipeline **out);
rg_status rg_vk_set_get(rg_vk *v, rg_vk_task *t, rg_vk_layout *layout, rg_vk_set **out);

/* probe */
rg_status rg_vk_probe_run(rg_vk *v);
/* "f64 i64 ..." of what is used. */
void rg_vk_caps_text(const rg_vk *v, char *out, size_t size);

/* launch */
/* After everything has run: an error when the driver ended some loop early. */
rg_status rg_vk_guards(rg_vk *v);
const rg_walk_ops *rg_vk_walk_ops(void);
rg_status rg_vk_launch(rg_vk *v, rg_vk_program *p, const rg_binding *args);

#endif
#endif
