/* Finds the physical device, asks what it offers, and makes a logical device with all of that which
 * the emitter can use. What is offered is only a first guess: the probe decides. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK(chain, s) ((s).pNext = (chain), (chain) = &(s))

typedef struct features {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDevice8BitStorageFeatures storage8;
    VkPhysicalDeviceShaderFloat16Int8Features small;
    VkPhysicalDeviceShaderAtomicInt64Features atomic64;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceScalarBlockLayoutFeatures scalar;
} features;

typedef struct extensions {
    VkExtensionProperties *list;
    uint32_t n;
    const char *use[16];
    uint32_t nuse;
    uint32_t version;
} extensions;

/* Is it there: as an extension, or in the core since `core`? An extension is taken into use. */
static bool offers(extensions *e, const char *name, uint32_t core) {
    if (core && e->version >= core)
        return true;
    for (uint32_t i = 0; i < e->n; i++)
        if (strcmp(e->list[i].extensionName, name) == 0) {
            e->use[e->nuse++] = name;
            return true;
        }
    return false;
}

rg_status rg_vk_fail(rg_vk *v, const char *call, VkResult r) {
    if (r == VK_ERROR_DEVICE_LOST)
        v->lost = true;
    rg_status s = r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY
                      ? RG_ERROR_MEMORY
                      : RG_ERROR_DEVICE;
    return rg_fail(v->ctx, s, "%s (%s): %s: %s", v->name, v->properties.deviceName, call,
                   rg_vk_result_name(r));
}

/* ---- listing ---- */

static VkPhysicalDevice *list_devices(const rg_vk_instance *in, uint32_t *n) {
    *n = 0;
    if (in->api.EnumeratePhysicalDevices(in->handle, n, NULL) != VK_SUCCESS || !*n)
        return NULL;
    VkPhysicalDevice *list = calloc(*n, sizeof *list);
    if (!list || in->api.EnumeratePhysicalDevices(in->handle, n, list) < 0) {
        free(list);
        *n = 0;
        return NULL;
    }
    return list;
}

uint32_t rg_vk_count(void) {
    rg_vk_instance in;
    char why[160];
    uint32_t n = 0;
    if (!rg_vk_instance_open(&in, NULL, why))
        return 0;
    free(list_devices(&in, &n));
    rg_vk_instance_close(&in);
    return n;
}

static bool compute_family(const rg_vk_api *vk, VkPhysicalDevice p, uint32_t *out) {
    uint32_t n = 0;
    vk->GetPhysicalDeviceQueueFamilyProperties(p, &n, NULL);
    VkQueueFamilyProperties *list = calloc(n ? n : 1, sizeof *list);
    if (!list)
        return false;
    vk->GetPhysicalDeviceQueueFamilyProperties(p, &n, list);
    bool found = false;
    for (uint32_t i = 0; i < n && !found; i++)
        if (list[i].queueCount && (list[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
            *out = i;
            found = true;
        }
    free(list);
    return found;
}

/* ---- what it is ---- */

static void ask_properties(rg_vk *v, extensions *e) {
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties most = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceFloatControlsProperties floats = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
    VkPhysicalDeviceMaintenance4Properties largest = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    v->driver = (VkPhysicalDeviceDriverProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    void *chain = NULL;
    LINK(chain, id);
    LINK(chain, subgroup);
    LINK(chain, most);
    bool has_floats = offers(e, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, VK_API_VERSION_1_2);
    if (has_floats)
        LINK(chain, floats);
    if (offers(e, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, VK_API_VERSION_1_2))
        LINK(chain, v->driver);
    if (e->version >= VK_API_VERSION_1_3)
        LINK(chain, largest);
    p.pNext = chain;
    v->vk->GetPhysicalDeviceProperties2(v->physical, &p);
    v->driver.pNext = NULL;
    v->properties = p.properties;
    memcpy(v->uuid[0], id.deviceUUID, VK_UUID_SIZE);
    memcpy(v->uuid[1], id.driverUUID, VK_UUID_SIZE);
    memcpy(v->uuid[2], p.properties.pipelineCacheUUID, VK_UUID_SIZE);
    v->max_allocation = most.maxMemoryAllocationSize ? most.maxMemoryAllocationSize : 1u << 30;
    v->max_buffer = largest.maxBufferSize ? largest.maxBufferSize : v->max_allocation;
    if (v->max_buffer > v->max_allocation)
        v->max_buffer = v->max_allocation;
    v->offered.subgroup_add = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                              (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
    v->offered.signed_zero_inf_nan =
        has_floats && floats.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE;
}

/* The structures of features and who defines them: an extension, and a version of Vulkan from which
 * on it is part of it (0: none). */
#define FEATURE(member, TYPE) offsetof(features, member), VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##TYPE
static const struct {
    size_t at;
    VkStructureType type;
    const char *extension; /* NULL: always there */
    uint32_t version;
} asked[] = {
    {FEATURE(storage16, 16BIT_STORAGE_FEATURES), NULL, 0},
    {FEATURE(storage8, 8BIT_STORAGE_FEATURES), VK_KHR_8BIT_STORAGE_EXTENSION_NAME,
     VK_API_VERSION_1_2},
    {FEATURE(small, SHADER_FLOAT16_INT8_FEATURES), VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
     VK_API_VERSION_1_2},
    {FEATURE(atomic64, SHADER_ATOMIC_INT64_FEATURES), VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME,
     VK_API_VERSION_1_2},
    {FEATURE(atomic_float, SHADER_ATOMIC_FLOAT_FEATURES_EXT),
     VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, 0},
    {FEATURE(address, BUFFER_DEVICE_ADDRESS_FEATURES), VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME,
     VK_API_VERSION_1_2},
    {FEATURE(timeline, TIMELINE_SEMAPHORE_FEATURES), VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,
     VK_API_VERSION_1_2},
    {FEATURE(scalar, SCALAR_BLOCK_LAYOUT_FEATURES), VK_EXT_SCALAR_BLOCK_LAYOUT_EXTENSION_NAME,
     VK_API_VERSION_1_2},
};

static void ask_features(rg_vk *v, extensions *e, features *f) {
    VkBaseOutStructure *chain = NULL;
    memset(f, 0, sizeof *f);
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        VkBaseOutStructure *s = (void *)((char *)f + asked[k].at);
        s->sType = asked[k].type;
        if (asked[k].extension && !offers(e, asked[k].extension, asked[k].version))
            continue;
        s->pNext = chain;
        chain = s;
    }
    offers(e, VK_KHR_STORAGE_BUFFER_STORAGE_CLASS_EXTENSION_NAME, VK_API_VERSION_1_1);
    offers(e, "VK_KHR_portability_subset", 0);
    f->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->base.pNext = chain;
    v->vk->GetPhysicalDeviceFeatures2(v->physical, &f->base);
    /* Of the core features only those for shaders' types: the rest (robust access among them)
     * costs, and is of no use here. */
    VkPhysicalDeviceFeatures all = f->base.features;
    f->base.features = (VkPhysicalDeviceFeatures){.shaderFloat64 = all.shaderFloat64,
                                                  .shaderInt64 = all.shaderInt64,
                                                  .shaderInt16 = all.shaderInt16};
    f->address.bufferDeviceAddressCaptureReplay = VK_FALSE;
    f->address.bufferDeviceAddressMultiDevice = VK_FALSE;
    f->storage16.storageInputOutput16 = VK_FALSE;
    f->storage16.storagePushConstant16 = VK_FALSE;
    f->storage8.storagePushConstant8 = VK_FALSE;
    f->atomic_float.shaderImageFloat32AtomicAdd = VK_FALSE;
    f->atomic_float.shaderImageFloat32Atomics = VK_FALSE;
    f->atomic_float.sparseImageFloat32AtomicAdd = VK_FALSE;
    f->atomic_float.sparseImageFloat32Atomics = VK_FALSE;
}

static void set_offered(rg_vk *v, const features *f) {
    rg_spirv_caps *c = &v->offered;
    bool i64 = f->base.features.shaderInt64 == VK_TRUE;
    c->f64 = f->base.features.shaderFloat64 == VK_TRUE;
    c->i64 = i64;
    c->i16 = f->storage16.storageBuffer16BitAccess && f->base.features.shaderInt16;
    c->i8 = f->storage8.storageBuffer8BitAccess && f->small.shaderInt8;
    c->f16 = f->storage16.storageBuffer16BitAccess && f->small.shaderFloat16;
    c->atomic_f32_add = f->atomic_float.shaderBufferFloat32AtomicAdd == VK_TRUE;
    c->atomic_f64_add = c->f64 && f->atomic_float.shaderBufferFloat64AtomicAdd;
    c->i64_atomics = i64 && f->atomic64.shaderBufferInt64Atomics;
    uint32_t api = v->api_version;
    c->version = api >= VK_API_VERSION_1_3   ? 0x00010600
                 : api >= VK_API_VERSION_1_2 ? 0x00010500
                                             : 0x00010300;
    const VkPhysicalDeviceLimits *l = &v->properties.limits;
    uint32_t most = l->maxComputeWorkGroupSize[0];
    if (l->maxComputeWorkGroupInvocations < most)
        most = l->maxComputeWorkGroupInvocations;
    c->workgroup = 256;
    while (c->workgroup > most && c->workgroup > 1)
        c->workgroup /= 2;
    /* A processor runs iterations one after the other anyway. */
    c->lanes = v->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? 1 : 8;
    c->blocks = 1;
    v->has_address = f->address.bufferDeviceAddress && i64;
}

/* ---- opening ---- */

/* For tests: so many lanes, in workgroups so small that a dozen iterations use them. */
static rg_status ask_lanes(rg_vk *v) {
    const char *env = getenv("RETROGRAD_VULKAN_LANES");
    if (!env || !*env)
        return RG_OK;
    if (strlen(env) != 1 || *env < '1' || *env > '8')
        return rg_fail(v->ctx, RG_ERROR_ARGUMENT,
                       "RETROGRAD_VULKAN_LANES is '%s': it must be 1 to 8", env);
    v->offered.lanes = (uint32_t)(*env - '0');
    v->offered.workgroup = 4;
    v->few = true;
    return RG_OK;
}

static rg_status pick(rg_vk *v, uint32_t index) {
    uint32_t n = 0;
    VkPhysicalDevice *list = list_devices(&v->instance, &n);
    if (index < n)
        v->physical = list[index];
    free(list);
    if (!n)
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s: no driver offers a device", v->name);
    if (!v->physical)
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "there is no device '%s': Vulkan has %u", v->name,
                       n);
    VkPhysicalDeviceProperties p;
    v->vk->GetPhysicalDeviceProperties(v->physical, &p);
    v->properties = p;
    v->api_version = p.apiVersion < v->instance.version ? p.apiVersion : v->instance.version;
    if (v->api_version >= VK_API_VERSION_1_3)
        v->api_version = VK_API_VERSION_1_3;
    if (v->api_version < VK_API_VERSION_1_1)
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s) has Vulkan 1.0: 1.1 is the least", v->name,
                       p.deviceName);
    if (!compute_family(v->vk, v->physical, &v->family))
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s) has no queue for compute", v->name,
                       p.deviceName);
    return RG_OK;
}

static rg_status make_device(rg_vk *v) {
    extensions e = {.version = v->api_version};
    VkResult r = v->vk->EnumerateDeviceExtensionProperties(v->physical, NULL, &e.n, NULL);
    if (r == VK_SUCCESS) {
        e.list = calloc(e.n ? e.n : 1, sizeof *e.list);
        if (!e.list)
            return rg_fail_memory(v->ctx);
        r = v->vk->EnumerateDeviceExtensionProperties(v->physical, NULL, &e.n, e.list);
    }
    if (r < 0) {
        free(e.list);
        return rg_vk_fail(v, "vkEnumerateDeviceExtensionProperties", r);
    }
    features f;
    ask_properties(v, &e);
    ask_features(v, &e, &f);
    set_offered(v, &f);
    rg_status lanes = ask_lanes(v);
    if (lanes != RG_OK) {
        free(e.list);
        return lanes;
    }
    free(e.list);
    if (!f.timeline.timelineSemaphore)
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s) lacks the feature timelineSemaphore",
                       v->name, v->properties.deviceName);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = v->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &f.base,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = e.nuse,
                               .ppEnabledExtensionNames = e.use};
    r = v->vk->CreateDevice(v->physical, &info, NULL, &v->device);
    if (r != VK_SUCCESS) {
        v->device = NULL;
        return rg_vk_fail(v, "vkCreateDevice", r);
    }
    char why[160];
    if (!rg_vk_api_device(v->vk, v->device, why))
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s): %s", v->name, v->properties.deviceName,
                       why);
    if (!v->vk->GetBufferDeviceAddress)
        v->has_address = false;
    v->vk->GetDeviceQueue(v->device, v->family, 0, &v->queue);
    return RG_OK;
}

rg_status rg_vk_open(rg_vk *v, uint32_t index) {
    char why[160];
    v->vk = &v->instance.api;
    if (!rg_vk_instance_open(&v->instance, &v->messages, why))
        return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s: %s", v->name, why);
    rg_status s = pick(v, index);
    if (s == RG_OK)
        s = make_device(v);
    if (s == RG_OK)
        s = rg_vk_queue_open(v);
    if (s == RG_OK)
        s = rg_vk_memory_open(v);
    if (s == RG_OK)
        s = rg_vk_programs_open(v);
    v->caps = v->offered;
    v->caps.addressing = v->has_address ? RG_SPIRV_ADDRESS : RG_SPIRV_OFFSET;
    return s;
}

void rg_vk_close(rg_vk *v) {
    if (v->device) {
        if (v->vk->DeviceWaitIdle)
            v->vk->DeviceWaitIdle(v->device);
        rg_vk_programs_close(v);
        rg_vk_memory_close(v);
        rg_vk_queue_close(v);
        if (v->vk->DestroyDevice)
            v->vk->DestroyDevice(v->device, NULL);
        v->device = NULL;
    }
    rg_vk_instance_close(&v->instance);
}

/* ---- describing ---- */

static void describe_absent(rg_device_info *out, const char *why) {
    out->available = false;
    snprintf(out->why_not, sizeof out->why_not, "%s", why);
}

void rg_vk_describe(rg_context *ctx, rg_device_info *out) {
    rg_device *dev = NULL;
    /* What it can is what was measured: so it is opened, which asks the cache first. */
    if (rg_device_open(ctx, out->name, NULL, &dev) != RG_OK) {
        describe_absent(out, rg_context_message(ctx));
        return;
    }
    const rg_vk *v = dev->state;
    const VkPhysicalDeviceProperties *p = &v->properties;
    bool named = v->driver.driverName[0] != 0;
    out->available = true;
    snprintf(out->description, sizeof out->description,
             "%.48s, Vulkan %u.%u, %.20s%s%.20s, %s mode, %s memory", p->deviceName,
             VK_API_VERSION_MAJOR(p->apiVersion), VK_API_VERSION_MINOR(p->apiVersion),
             named ? v->driver.driverName : "driver", named ? " " : "", v->driver.driverInfo,
             v->caps.addressing == RG_SPIRV_ADDRESS ? "address" : "offset",
             v->direct ? "shared" : "staged");
    snprintf(out->addressing, sizeof out->addressing, "%s",
             v->caps.addressing == RG_SPIRV_ADDRESS ? "address" : "offset");
    rg_vk_caps_text(v, out->caps, sizeof out->caps);
    rg_device_release(dev);
}

#else
typedef int rg_vk_not_built;
#endif
