/* The loader is opened by name, as the systems that have one name it; nothing is linked. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*rg_vk_wrap)(rg_vk_api *api);
void (*rg_vk_wrap_global)(rg_vk_api *api);

static const char *const libraries[] = {
#if defined(__APPLE__)
    "libvulkan.dylib", "libvulkan.1.dylib", "libMoltenVK.dylib", "/usr/local/lib/libvulkan.dylib",
    "/opt/homebrew/lib/libMoltenVK.dylib"
#elif defined(_WIN32)
    "vulkan-1.dll"
#else
    "libvulkan.so.1", "libvulkan.so"
#endif
};

const char *rg_vk_result_name(VkResult r) {
    switch (r) {
    case VK_SUCCESS:
        return "success";
    case VK_TIMEOUT:
        return "timeout";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "initialization failed";
    case VK_ERROR_DEVICE_LOST:
        return "the device is lost";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "memory map failed";
    case VK_ERROR_LAYER_NOT_PRESENT:
        return "a layer is not present";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "an extension is not present";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "a feature is not present";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "no driver fits";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "too many objects";
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
        return "out of pool memory";
    case VK_ERROR_INVALID_SHADER_NV:
        return "invalid shader";
    default:
        return "unknown error";
    }
}

/* The loader's functions have one type and are kept in fields of many. */
static bool set(void *field, PFN_vkVoidFunction f) {
    memcpy(field, &f, sizeof f);
    return f != NULL;
}

static bool missing(char why[160], const char *name) {
    snprintf(why, 160, "the Vulkan driver has no vk%s", name);
    return false;
}

static bool open_library(rg_vk_api *api, char why[160]) {
    for (size_t i = 0; !api->library && i < sizeof libraries / sizeof *libraries; i++)
        api->library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!api->library) {
        snprintf(why, 160, "there is no Vulkan loader (%s) on this machine", libraries[0]);
        return false;
    }
    void *f = dlsym(api->library, "vkGetInstanceProcAddr");
    memcpy(&api->GetInstanceProcAddr, &f, sizeof f);
    if (!f)
        return missing(why, "GetInstanceProcAddr");
#define X(name, required)                                                                          \
    if (!set(&api->name, api->GetInstanceProcAddr(NULL, "vk" #name)) && required)                  \
        return missing(why, #name);
    RG_VK_GLOBAL(X)
#undef X
    if (rg_vk_wrap_global)
        rg_vk_wrap_global(api);
    return true;
}

static bool api_instance(rg_vk_api *api, VkInstance instance, char why[160]) {
#define X(name, required)                                                                          \
    if (!set(&api->name, api->GetInstanceProcAddr(instance, "vk" #name)) && required)              \
        return missing(why, #name);
    RG_VK_INSTANCE(X)
#undef X
    return true;
}

bool rg_vk_api_device(rg_vk_api *api, VkDevice device, char why[160]) {
#define X(name, required)                                                                          \
    if (!set(&api->name, api->GetDeviceProcAddr(device, "vk" #name)) &&                            \
        !set(&api->name, api->GetDeviceProcAddr(device, "vk" #name "KHR")) && required)            \
        return missing(why, #name);
    RG_VK_DEVICE(X)
#undef X
    if (rg_vk_wrap)
        rg_vk_wrap(api);
    return true;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL note(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT types,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data,
                                           void *user) {
    (void)severity;
    (void)types;
    rg_vk_messages *m = user;
    if (!m->count++)
        snprintf(m->first, sizeof m->first, "%s", data->pMessage ? data->pMessage : "");
    return VK_FALSE;
}

static bool has_extension(const rg_vk_api *api, const char *layer, const char *name) {
    uint32_t n = 0;
    if (api->EnumerateInstanceExtensionProperties(layer, &n, NULL) != VK_SUCCESS || !n)
        return false;
    VkExtensionProperties *list = calloc(n, sizeof *list);
    bool found = false;
    if (list && api->EnumerateInstanceExtensionProperties(layer, &n, list) >= 0)
        for (uint32_t i = 0; i < n; i++)
            found |= strcmp(list[i].extensionName, name) == 0;
    free(list);
    return found;
}

static bool has_layer(const rg_vk_api *api, const char *name) {
    uint32_t n = 0;
    if (api->EnumerateInstanceLayerProperties(&n, NULL) != VK_SUCCESS || !n)
        return false;
    VkLayerProperties *list = calloc(n, sizeof *list);
    bool found = false;
    if (list && api->EnumerateInstanceLayerProperties(&n, list) >= 0)
        for (uint32_t i = 0; i < n; i++)
            found |= strcmp(list[i].layerName, name) == 0;
    free(list);
    return found;
}

bool rg_vk_instance_open(rg_vk_instance *in, rg_vk_messages *messages, char why[160]) {
    static const char validation[] = "VK_LAYER_KHRONOS_validation";
    static const char debug[] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    static const char portability[] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    *in = (rg_vk_instance){.messages = messages};
    if (!open_library(&in->api, why)) {
        rg_vk_instance_close(in);
        return false;
    }
    in->version = VK_API_VERSION_1_0;
    if (in->api.EnumerateInstanceVersion)
        in->api.EnumerateInstanceVersion(&in->version);
    if (in->version < VK_API_VERSION_1_1) {
        snprintf(why, 160, "the Vulkan loader is of version 1.0: 1.1 is the least");
        rg_vk_instance_close(in);
        return false;
    }
    const char *asked = getenv("RETROGRAD_VULKAN_VALIDATION");
    in->validation = messages && asked && *asked && strcmp(asked, "0") != 0;
    const char *extensions[3], *layers[1];
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .ppEnabledExtensionNames = extensions,
                                 .ppEnabledLayerNames = layers};
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = note,
        .pUserData = messages};
    if (in->validation &&
        (!has_layer(&in->api, validation) ||
         !(has_extension(&in->api, NULL, debug) || has_extension(&in->api, validation, debug)))) {
        snprintf(why, 160, "RETROGRAD_VULKAN_VALIDATION is set, but there is no %s", validation);
        rg_vk_instance_close(in);
        return false;
    }
    if (in->validation) {
        layers[info.enabledLayerCount++] = validation;
        extensions[info.enabledExtensionCount++] = debug;
        info.pNext = &messenger;
    }
    if (has_extension(&in->api, NULL, portability)) {
        extensions[info.enabledExtensionCount++] = portability;
        info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    /* MoltenVK may compile Metal with fast maths, whatever the shader says: never, here. It is a
     * setting of a "layer" of that name, and nobody else's. */
    static const uint32_t never = 0;
    static const VkLayerSettingEXT slow_maths = {"MoltenVK", "MVK_CONFIG_FAST_MATH_ENABLED",
                                                 VK_LAYER_SETTING_TYPE_UINT32_EXT, 1, &never};
    VkLayerSettingsCreateInfoEXT settings = {.sType =
                                                 VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
                                             .settingCount = 1,
                                             .pSettings = &slow_maths};
    if (has_extension(&in->api, NULL, VK_EXT_LAYER_SETTINGS_EXTENSION_NAME)) {
        extensions[info.enabledExtensionCount++] = VK_EXT_LAYER_SETTINGS_EXTENSION_NAME;
        settings.pNext = info.pNext;
        info.pNext = &settings;
    }
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .pApplicationName = "retrograd",
                             .pEngineName = "retrograd",
                             .apiVersion = in->version < VK_API_VERSION_1_3 ? in->version
                                                                            : VK_API_VERSION_1_3};
    info.pApplicationInfo = &app;
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    VkResult r = in->api.CreateInstance(&info, NULL, &in->handle);
    if (r != VK_SUCCESS) {
        in->handle = NULL;
        snprintf(why, 160, "vkCreateInstance: %s", rg_vk_result_name(r));
        rg_vk_instance_close(in);
        return false;
    }
    if (!api_instance(&in->api, in->handle, why)) {
        rg_vk_instance_close(in);
        return false;
    }
    if (in->validation && in->api.CreateDebugUtilsMessengerEXT)
        in->api.CreateDebugUtilsMessengerEXT(in->handle, &messenger, NULL, &in->messenger);
    return true;
}

void rg_vk_instance_close(rg_vk_instance *in) {
    if (in->messenger && in->api.DestroyDebugUtilsMessengerEXT)
        in->api.DestroyDebugUtilsMessengerEXT(in->handle, in->messenger, NULL);
    if (in->handle && in->api.DestroyInstance)
        in->api.DestroyInstance(in->handle, NULL);
    /* The library stays loaded: drivers keep threads and thread-local data that outlive it. */
    in->messenger = VK_NULL_HANDLE;
    in->handle = NULL;
}

#else
typedef int rg_vk_not_built;
#endif
