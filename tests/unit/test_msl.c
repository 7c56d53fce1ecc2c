/* Counting Metal buffer slots, and translating a module by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "compile/msl.h"

#include <stdio.h>
#include <string.h>

static void counts_each_slot_once(void **state) {
    (void)state;
    assert_int_equal(rg_msl_slots(""), 0);
    assert_int_equal(rg_msl_slots("kernel void f(uint3 g [[thread_position_in_grid]])"), 0);
    assert_int_equal(rg_msl_slots("f(device A &a [[buffer(0)]], device B &b [[buffer(1)]])"), 2);
    /* Two entry points, the same buffers. */
    assert_int_equal(rg_msl_slots("f(x [[buffer(1)]]) g(x [[buffer(1)]], y [[buffer(11)]])"), 2);
    assert_int_equal(rg_msl_slots("[[buffer("), 1); /* cut off, but no fault */
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    assert_int_equal(RG_GUARD(a), 0);
    rg_text t = {.arena = a};
    for (int i = 0; i < 40; i++)
        rg_text_format(&t, "device float *b%d [[buffer(%d)]], ", i, i);
    assert_int_equal(rg_msl_slots(rg_text_str(&t)), 40);
    rg_arena_free(a);
}

static void a_missing_library_is_an_error(void **state) {
    (void)state;
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    assert_int_equal(RG_GUARD(a), 0);
    const char *why = NULL;
    assert_null(rg_msl_open(a, "/nowhere/libspirv-cross.so", &why));
    assert_non_null(strstr(why, "SPIRV-Cross"));
    assert_null(rg_msl_open(a, "libm.so.6", &why));
    assert_non_null(why);
    rg_arena_free(a);
}

/* An empty kernel, and the same with its last words cut off. */
static const uint32_t empty[] = {
    0x07230203, 0x00010300, 0,  6,          0,             /* header: ids below 6 */
    0x00020011, 1,                                         /* OpCapability Shader */
    0x0003000e, 0,          1,                             /* OpMemoryModel Logical GLSL450 */
    0x0005000f, 5,          1,  0x6b736174, 0x00000030,    /* OpEntryPoint GLCompute %1 "task0" */
    0x00060010, 1,          17, 64,         1,          1, /* OpExecutionMode %1 LocalSize 64 1 1 */
    0x00020013, 2,                                         /* %2 = OpTypeVoid */
    0x00030021, 3,          2,                             /* %3 = OpTypeFunction %2 */
    0x00050036, 2,          1,  0,          3,             /* %1 = OpFunction %2 None %3 */
    0x000200f8, 4,                                         /* %4 = OpLabel */
    0x000100fd,                                            /* OpReturn */
    0x00010038                                             /* OpFunctionEnd */
};

static void translates_an_entry_point(void **state) {
    (void)state;
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    assert_int_equal(RG_GUARD(a), 0);
    const char *why = NULL;
    rg_msl *m = rg_msl_open(a, NULL, &why);
    if (!m) {
        /* It may be missing, and no more than that. */
        assert_non_null(why);
        assert_non_null(strstr(why, "needs SPIRV-Cross's C library"));
        fprintf(stderr, "skip: %s\n", why);
        rg_arena_free(a);
        skip();
    }
    rg_msl_source s;
    size_t n = sizeof empty / sizeof *empty;
    assert_true(rg_msl_translate(m, a, empty, n, "task0", NULL, &s, &why));
    assert_string_equal(s.entry, "task0");
    assert_int_equal(s.slots, 0);
    assert_int_equal(s.workgroup[0], 64);
    assert_non_null(strstr(s.text, "kernel void task0("));
    assert_false(rg_msl_translate(m, a, empty, n, "task1", NULL, &s, &why));
    assert_non_null(strstr(why, "task1"));
    assert_false(rg_msl_translate(m, a, empty, 9, "task0", NULL, &s, &why));
    assert_non_null(why);
    rg_msl_close(m);
    rg_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_each_slot_once),
        cmocka_unit_test(a_missing_library_is_an_error),
        cmocka_unit_test(translates_an_entry_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
