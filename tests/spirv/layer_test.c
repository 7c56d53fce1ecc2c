/* An unmodified Vulkan program for the layer's test: runs MODULE.spv as one workgroup with four
 * buffer addresses {x, x_grad, y, y_grad} in push constants, and the same memory bound as storage
 * buffers 0 to 3 of set 0, and prints the 4 floats of each. Float atomics are switched on where the
 * device has them. Validation messages go to standard error, and make the exit status 1; 77: no
 * such device. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { APART = 256 }; /* bytes from one array to the next: all that Vulkan lets a device ask for */

static int errors;

static VKAPI_ATTR VkBool32 VKAPI_CALL message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT type,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data,
                                              void *user) {
    (void)severity, (void)type, (void)user;
    fprintf(stderr, "%s\n", data->pMessage);
    errors++;
    return VK_FALSE;
}

static void need(VkResult r, const char *what, int status) {
    if (r == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: %d\n", what, (int)r);
    exit(status);
}

static bool has_extension(VkPhysicalDevice physical, const char *name) {
    static VkExtensionProperties list[1024];
    uint32_t n = 1024;
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &n, list) < 0)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (strcmp(list[k].extensionName, name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv) {
    static uint32_t code[1 << 16];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = f ? fread(code, 1, sizeof code, f) : 0;
    if (!size)
        return 2;
    fclose(f);
    VkDebugUtilsMessengerCreateInfoEXT debug = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = message};
    const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    uint32_t n_extensions = getenv("LAYER_TEST_VALIDATION") ? 1 : 0;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_2};
    VkInstance instance;
    need(vkCreateInstance(&(VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                  .pNext = n_extensions ? &debug : NULL,
                                                  .pApplicationInfo = &app,
                                                  .enabledExtensionCount = n_extensions,
                                                  .ppEnabledExtensionNames = &extension},
                          NULL, &instance),
         "vkCreateInstance", 77);
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            instance, "vkDestroyDebugUtilsMessengerEXT");
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    if (n_extensions && create)
        need(create(instance, &debug, NULL, &messenger), "messenger", 2);
    VkPhysicalDevice physical;
    uint32_t n = 1;
    VkResult r = vkEnumeratePhysicalDevices(instance, &n, &physical);
    if (n == 0 || (r != VK_SUCCESS && r != VK_INCOMPLETE))
        return 77;
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
    bool has_atomics = has_extension(physical, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    if (has_atomics)
        vkGetPhysicalDeviceFeatures2(
            physical,
            &(VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                         .pNext = &atomics});
    atomics.pNext = NULL;
    const char *wanted[2];
    uint32_t n_wanted = 0;
    if (has_atomics)
        wanted[n_wanted++] = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME;
    if (has_extension(physical, VK_KHR_SHADER_NON_SEMANTIC_INFO_EXTENSION_NAME))
        wanted[n_wanted++] = VK_KHR_SHADER_NON_SEMANTIC_INFO_EXTENSION_NAME;
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = has_atomics ? &atomics : NULL,
        .bufferDeviceAddress = 1};
    VkDevice device;
    need(vkCreateDevice(physical,
                        &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                              .pNext = &features,
                                              .enabledExtensionCount = n_wanted,
                                              .ppEnabledExtensionNames = wanted,
                                              .queueCreateInfoCount = 1,
                                              .pQueueCreateInfos = &queues},
                        NULL, &device),
         "vkCreateDevice", 77);
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkBuffer buffer;
    need(vkCreateBuffer(device,
                        &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                              .size = 4 * APART,
                                              .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                       VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT},
                        NULL, &buffer),
         "vkCreateBuffer", 2);
    VkMemoryRequirements wants;
    vkGetBufferMemoryRequirements(device, buffer, &wants);
    VkPhysicalDeviceMemoryProperties has;
    vkGetPhysicalDeviceMemoryProperties(physical, &has);
    uint32_t type = 0;
    VkMemoryPropertyFlags flags =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while (type + 1 < has.memoryTypeCount &&
           !((wants.memoryTypeBits >> type & 1) &&
             (has.memoryTypes[type].propertyFlags & flags) == flags))
        type++;
    VkMemoryAllocateFlagsInfo addressed = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkDeviceMemory memory;
    need(vkAllocateMemory(device,
                          &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                                  .pNext = &addressed,
                                                  .allocationSize = wants.size,
                                                  .memoryTypeIndex = type},
                          NULL, &memory),
         "vkAllocateMemory", 2);
    need(vkBindBufferMemory(device, buffer, memory, 0), "vkBindBufferMemory", 2);
    char *data;
    need(vkMapMemory(device, memory, 0, 4 * APART, 0, (void **)&data), "vkMapMemory", 2);
    float *array[4];
    for (int k = 0; k < 4; k++)
        array[k] = (float *)(void *)(data + k * APART);
    for (int i = 0; i < 4; i++) {
        array[0][i] = (float)(i + 1);
        array[1][i] = (float)(10 * i);
        array[2][i] = (float)(100 + i);
        array[3][i] = (float)(5 + i);
    }
    VkDeviceAddress base = vkGetBufferDeviceAddress(
        device, &(VkBufferDeviceAddressInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = buffer});
    uint64_t push[4] = {base, base + APART, base + 2 * APART, base + 3 * APART};
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push};
    VkDescriptorSetLayoutBinding bindings[4];
    VkDescriptorBufferInfo parts[4];
    VkWriteDescriptorSet writes[4];
    for (uint32_t k = 0; k < 4; k++) {
        bindings[k] =
            (VkDescriptorSetLayoutBinding){.binding = k,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
        parts[k] = (VkDescriptorBufferInfo){buffer, k * APART, 16};
    }
    VkDescriptorSetLayout set_layout;
    need(vkCreateDescriptorSetLayout(
             device,
             &(VkDescriptorSetLayoutCreateInfo){
                 .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                 .bindingCount = 4,
                 .pBindings = bindings},
             NULL, &set_layout),
         "vkCreateDescriptorSetLayout", 2);
    VkDescriptorPool sets;
    need(vkCreateDescriptorPool(
             device,
             &(VkDescriptorPoolCreateInfo){
                 .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                 .maxSets = 1,
                 .poolSizeCount = 1,
                 .pPoolSizes = &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4}},
             NULL, &sets),
         "vkCreateDescriptorPool", 2);
    VkDescriptorSet set;
    need(vkAllocateDescriptorSets(
             device,
             &(VkDescriptorSetAllocateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = sets,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &set_layout},
             &set),
         "vkAllocateDescriptorSets", 2);
    for (uint32_t k = 0; k < 4; k++)
        writes[k] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = k,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &parts[k]};
    vkUpdateDescriptorSets(device, 4, writes, 0, NULL);
    VkPipelineLayout layout;
    need(vkCreatePipelineLayout(
             device,
             &(VkPipelineLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &set_layout,
                                           .pushConstantRangeCount = 1,
                                           .pPushConstantRanges = &range},
             NULL, &layout),
         "vkCreatePipelineLayout", 2);
    VkShaderModule module;
    need(vkCreateShaderModule(
             device,
             &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = size,
                                         .pCode = code},
             NULL, &module),
         "vkCreateShaderModule", 2);
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = layout};
    VkPipeline pipeline;
    need(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline), "pipeline",
         2);
    VkCommandPool pool;
    need(vkCreateCommandPool(
             device,
             &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}, NULL,
             &pool),
         "vkCreateCommandPool", 2);
    VkCommandBuffer commands;
    need(vkAllocateCommandBuffers(
             device,
             &(VkCommandBufferAllocateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = pool,
                                            .commandBufferCount = 1},
             &commands),
         "vkAllocateCommandBuffers", 2);
    vkBeginCommandBuffer(commands, &(VkCommandBufferBeginInfo){
                                       .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
    vkCmdDispatch(commands, 1, 1, 1);
    vkEndCommandBuffer(commands);
    need(vkQueueSubmit(queue, 1,
                       &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                       .commandBufferCount = 1,
                                       .pCommandBuffers = &commands},
                       VK_NULL_HANDLE),
         "vkQueueSubmit", 2);
    need(vkQueueWaitIdle(queue), "vkQueueWaitIdle", 2);
    for (int i = 0; i < 16; i++)
        printf("%s%g", i ? " " : "", (double)array[i / 4][i % 4]);
    putchar('\n');
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyShaderModule(device, module, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyDescriptorPool(device, sets, NULL);
    vkDestroyDescriptorSetLayout(device, set_layout, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
    vkDestroyDevice(device, NULL);
    if (messenger && destroy)
        destroy(instance, messenger, NULL);
    vkDestroyInstance(instance, NULL);
    return errors ? 1 : 0;
}
