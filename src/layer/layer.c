/* VK_LAYER_RETROGRAD_order: repairs every SPIR-V module that a program creates.
 *
 * The layer stands between the program and the driver. It hands on every call but those that bring
 * SPIR-V: vkCreateShaderModule, and the creation of pipelines whose stages carry their code in the
 * chain of structs. It is meant for MoltenVK and harmless elsewhere: a clean module goes through as
 * it is, and a repaired one does the same on every driver.
 *
 *   VK_INSTANCE_LAYERS=VK_LAYER_RETROGRAD_order   switches it on
 *   RETROGRAD_ORDER=off                           leaves it loaded, doing nothing
 *   RETROGRAD_ORDER_LOG=FILE                      appends a line for each module repaired
 *   RETROGRAD_ORDER_SINCE=1.4.304                 oldest SPIRV-Cross that has to be right
 */
#include "retrograd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))
#define NAME "VK_LAYER_RETROGRAD_order"

/* Instances and devices are known by their dispatch table, which their children share. */
typedef struct node {
    struct node *next;
    void *key;
    void *handle;
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
} node;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static node *instances, *devices;

static void *key_of(void *handle) {
    return *(void **)handle;
}

static bool remember(node **list, node value) {
    node *n = malloc(sizeof *n);
    if (!n)
        return false;
    *n = value;
    pthread_mutex_lock(&lock);
    n->next = *list;
    *list = n;
    pthread_mutex_unlock(&lock);
    return true;
}

static bool look_up(node **list, void *handle, bool forget, node *out) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (node **at = list; *at; at = &(*at)->next)
        if ((*at)->key == key_of(handle)) {
            node *n = *at;
            *out = *n;
            found = true;
            if (forget) {
                *at = n->next;
                free(n);
            }
            break;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

static PFN_vkVoidFunction next_of(VkDevice device, const char *name) {
    node n;
    return look_up(&devices, device, false, &n) ? n.device_proc(device, name) : NULL;
}

/* ---- modules ---- */

static unsigned translators(void) {
    const char *since = getenv("RETROGRAD_ORDER_SINCE");
    if (since && strcmp(since, "1.4.304") == 0)
        return RG_SPIRV_CROSS_1_4_304 | RG_SPIRV_CROSS_1_4_357;
    if (since && strcmp(since, "1.4.357") == 0)
        return RG_SPIRV_CROSS_1_4_357;
    return RG_SPIRV_CROSS_ALL;
}

static void log_repair(size_t before, size_t after) {
    const char *path = getenv("RETROGRAD_ORDER_LOG");
    FILE *f = path && *path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    fprintf(f, NAME ": repaired a module of %zu bytes, now %zu\n", before, after);
    fclose(f);
}

/* The module repaired, to be released with rg_spirv_free; NULL: take it as it is. */
static void *repaired(const VkShaderModuleCreateInfo *from, VkShaderModuleCreateInfo *to) {
    const char *off = getenv("RETROGRAD_ORDER");
    *to = *from;
    if ((off && strcmp(off, "off") == 0) || !from->pCode)
        return NULL;
    rg_spirv_repair_options o = {.size = sizeof o, .translators = translators()};
    void *code;
    size_t size;
    if (rg_spirv_fix(from->pCode, from->codeSize, &o, &code, &size, NULL) != RG_OK)
        return NULL;
    if (size == from->codeSize && memcmp(code, from->pCode, size) == 0) {
        rg_spirv_free(NULL, code);
        return NULL;
    }
    log_repair(from->codeSize, size);
    to->pCode = code;
    to->codeSize = size;
    return code;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device,
                                                           const VkShaderModuleCreateInfo *info,
                                                           const VkAllocationCallbacks *allocator,
                                                           VkShaderModule *out) {
    PFN_vkCreateShaderModule next =
        (PFN_vkCreateShaderModule)next_of(device, "vkCreateShaderModule");
    if (!next)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkShaderModuleCreateInfo changed;
    void *code = repaired(info, &changed);
    VkResult r = next(device, code ? &changed : info, allocator, out);
    rg_spirv_free(NULL, code);
    return r;
}

/* Stages may carry their SPIR-V themselves, with no module (VK_KHR_maintenance5). The first struct
 * of a stage's chain is replaced when it is that one, which is how programs write it; a module
 * deeper in a chain cannot be replaced without copying structs of unknown size. */
static void *stage_repaired(VkPipelineShaderStageCreateInfo *stage,
                            VkShaderModuleCreateInfo *changed) {
    const VkShaderModuleCreateInfo *info = stage->pNext;
    if (stage->module != VK_NULL_HANDLE || !info ||
        info->sType != VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)
        return NULL;
    void *code = repaired(info, changed);
    if (code)
        stage->pNext = changed;
    return code;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_compute_pipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n, const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *out) {
    PFN_vkCreateComputePipelines next =
        (PFN_vkCreateComputePipelines)next_of(device, "vkCreateComputePipelines");
    if (!next)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkComputePipelineCreateInfo *copies = malloc((n + 1u) * sizeof *copies);
    VkShaderModuleCreateInfo *changed = malloc((n + 1u) * sizeof *changed);
    void **codes = calloc(n + 1u, sizeof *codes);
    VkResult r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (copies && changed && codes) {
        if (n)
            memcpy(copies, infos, n * sizeof *copies);
        for (uint32_t k = 0; k < n; k++)
            codes[k] = stage_repaired(&copies[k].stage, &changed[k]);
        r = next(device, cache, n, copies, allocator, out);
        for (uint32_t k = 0; k < n; k++)
            rg_spirv_free(NULL, codes[k]);
    }
    free(codes);
    free(changed);
    free(copies);
    return r;
}

/* ---- instances and devices ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *out) {
    /* The loader owns the chain's struct and expects the layer to move it on. */
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateInstance next = (PFN_vkCreateInstance)proc(NULL, "vkCreateInstance");
    if (!next)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult r = next(info, allocator, out);
    if (r != VK_SUCCESS)
        return r;
    if (remember(&instances, (node){.key = key_of(*out), .handle = *out, .instance_proc = proc}))
        return VK_SUCCESS;
    PFN_vkDestroyInstance destroy = (PFN_vkDestroyInstance)proc(*out, "vkDestroyInstance");
    if (destroy)
        destroy(*out, allocator);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance,
                                                   const VkAllocationCallbacks *allocator) {
    node n;
    if (!instance || !look_up(&instances, instance, true, &n))
        return;
    PFN_vkDestroyInstance next =
        (PFN_vkDestroyInstance)n.instance_proc(instance, "vkDestroyInstance");
    if (next)
        next(instance, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *out) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    node n;
    if (!link || !look_up(&instances, physical, false, &n))
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateDevice next =
        (PFN_vkCreateDevice)instance_proc((VkInstance)n.handle, "vkCreateDevice");
    if (!next)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult r = next(physical, info, allocator, out);
    if (r != VK_SUCCESS)
        return r;
    if (remember(&devices, (node){.key = key_of(*out), .handle = *out, .device_proc = device_proc}))
        return VK_SUCCESS;
    PFN_vkDestroyDevice destroy = (PFN_vkDestroyDevice)device_proc(*out, "vkDestroyDevice");
    if (destroy)
        destroy(*out, allocator);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device,
                                                 const VkAllocationCallbacks *allocator) {
    node n;
    if (!device || !look_up(&devices, device, true, &n))
        return;
    PFN_vkDestroyDevice next = (PFN_vkDestroyDevice)n.device_proc(device, "vkDestroyDevice");
    if (next)
        next(device, allocator);
}

/* ---- what the loader asks for ---- */

static VKAPI_ATTR VkResult VKAPI_CALL layer_properties(uint32_t *n, VkLayerProperties *out) {
    if (out && *n < 1)
        return VK_INCOMPLETE;
    if (out) {
        memset(out, 0, sizeof *out);
        snprintf(out->layerName, sizeof out->layerName, "%s", NAME);
        snprintf(out->description, sizeof out->description, "%s",
                 "Repairs SPIR-V for translators to Metal");
        out->specVersion = VK_API_VERSION_1_3;
        out->implementationVersion = 1;
    }
    *n = 1;
    return VK_SUCCESS;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL
retrograd_order_EnumerateInstanceLayerProperties(uint32_t *n, VkLayerProperties *out) {
    return layer_properties(n, out);
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL retrograd_order_GetDeviceProcAddr(VkDevice device,
                                                                                  const char *name);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
retrograd_order_GetInstanceProcAddr(VkInstance instance, const char *name);

static PFN_vkVoidFunction own(const char *name, bool instance_level) {
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
        bool instance_only;
    } table[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)retrograd_order_GetInstanceProcAddr, true},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance, true},
        {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance, true},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device, true},
        {"vkEnumerateInstanceLayerProperties", (PFN_vkVoidFunction)layer_properties, true},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)retrograd_order_GetDeviceProcAddr, false},
        {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device, false},
        {"vkCreateShaderModule", (PFN_vkVoidFunction)create_shader_module, false},
        {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_compute_pipelines, false},
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        if (strcmp(table[k].name, name) == 0 && (instance_level || !table[k].instance_only))
            return table[k].function;
    return NULL;
}

PFN_vkVoidFunction VKAPI_CALL retrograd_order_GetDeviceProcAddr(VkDevice device, const char *name) {
    PFN_vkVoidFunction f = own(name, false);
    return f ? f : next_of(device, name);
}

PFN_vkVoidFunction VKAPI_CALL retrograd_order_GetInstanceProcAddr(VkInstance instance,
                                                                  const char *name) {
    PFN_vkVoidFunction f = own(name, true);
    node n;
    if (f || !instance || !look_up(&instances, instance, false, &n))
        return f;
    return n.instance_proc(instance, name);
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *v) {
    if (v->loaderLayerInterfaceVersion > 2)
        v->loaderLayerInterfaceVersion = 2;
    if (v->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    v->pfnGetInstanceProcAddr = retrograd_order_GetInstanceProcAddr;
    v->pfnGetDeviceProcAddr = retrograd_order_GetDeviceProcAddr;
    v->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
