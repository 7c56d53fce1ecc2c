/* The reader and the repair of SPIR-V: modules assembled here word by word. */
#include "retrograd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <cmocka.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

typedef struct module {
    uint32_t words[512];
    size_t n;
} module;

static void inst_n(module *m, uint32_t op, const uint32_t *w, size_t n) {
    assert_true(m->n + n + 1 < 512);
    m->words[m->n++] = (uint32_t)(n + 1) << 16 | op;
    memcpy(&m->words[m->n], w, n * sizeof *w);
    m->n += n;
}

#define INST(m, op, ...)                                                                           \
    inst_n((m), (op), (const uint32_t[]){__VA_ARGS__},                                             \
           sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define INST0(m, op) ((m)->words[(m)->n++] = 1u << 16 | (op))

enum {
    MAIN = 1,
    VOID,
    FN,
    F32,
    U64,
    PF,
    ARGS_T,
    P_ARGS,
    ARGS,
    P_U64,
    I32,
    C0,
    ZERO,
    BODY,
    A,
    U,
    P,
    G,
    SUM,
    FILE_NAME,
    BOUND
};

/* Loads through an address from a push constant; `late`: stores there before using the value. */
static void build(module *m, bool late) {
    *m = (module){{SpvMagicNumber, 0x10300, 0, BOUND, 0}, 5};
    INST(m, SpvOpCapability, SpvCapabilityShader);
    INST(m, SpvOpCapability, SpvCapabilityInt64);
    INST(m, SpvOpCapability, SpvCapabilityPhysicalStorageBufferAddresses);
    INST(m, SpvOpMemoryModel, SpvAddressingModelPhysicalStorageBuffer64, SpvMemoryModelGLSL450);
    INST(m, SpvOpEntryPoint, SpvExecutionModelGLCompute, MAIN, 0x6e69616d, 0);
    INST(m, SpvOpExecutionMode, MAIN, SpvExecutionModeLocalSize, 1, 1, 1);
    INST(m, SpvOpString, FILE_NAME, 0x00632e66); /* "f.c" */
    INST(m, SpvOpName, G, 0x00000067);           /* "g" */
    INST(m, SpvOpDecorate, ARGS_T, SpvDecorationBlock);
    INST(m, SpvOpMemberDecorate, ARGS_T, 0, SpvDecorationOffset, 0);
    INST(m, SpvOpTypeVoid, VOID);
    INST(m, SpvOpTypeFunction, FN, VOID);
    INST(m, SpvOpTypeFloat, F32, 32);
    INST(m, SpvOpTypeInt, U64, 64, 0);
    INST(m, SpvOpTypeInt, I32, 32, 1);
    INST(m, SpvOpTypePointer, PF, SpvStorageClassPhysicalStorageBuffer, F32);
    INST(m, SpvOpTypeStruct, ARGS_T, U64);
    INST(m, SpvOpTypePointer, P_ARGS, SpvStorageClassPushConstant, ARGS_T);
    INST(m, SpvOpTypePointer, P_U64, SpvStorageClassPushConstant, U64);
    INST(m, SpvOpConstant, I32, C0, 0);
    INST(m, SpvOpConstant, F32, ZERO, 0);
    INST(m, SpvOpVariable, P_ARGS, ARGS, SpvStorageClassPushConstant);
    INST(m, SpvOpFunction, VOID, MAIN, 0, FN);
    INST(m, SpvOpLabel, BODY);
    INST(m, SpvOpAccessChain, P_U64, A, ARGS, C0);
    INST(m, SpvOpLoad, U64, U, A);
    INST(m, SpvOpConvertUToPtr, PF, P, U);
    INST(m, SpvOpLine, FILE_NAME, 12, 5);
    INST(m, SpvOpLoad, F32, G, P, SpvMemoryAccessAlignedMask, 4);
    if (late)
        INST(m, SpvOpStore, P, ZERO, SpvMemoryAccessAlignedMask, 4);
    INST(m, SpvOpFAdd, F32, SUM, G, ZERO);
    INST(m, SpvOpStore, P, SUM, SpvMemoryAccessAlignedMask, 4);
    INST0(m, SpvOpReturn);
    INST0(m, SpvOpFunctionEnd);
}

static void names_a_late_load(void **state) {
    (void)state;
    module m;
    build(&m, true);
    rg_spirv_report *r;
    assert_int_equal(rg_spirv_check(m.words, m.n * 4, NULL, &r), RG_OK);
    assert_int_equal(rg_spirv_report_count(r), 1);
    rg_spirv_finding f = {.size = sizeof f};
    assert_int_equal(rg_spirv_report_finding(r, 0, &f), RG_OK);
    assert_int_equal(f.fault, RG_SPIRV_LOAD_LATE);
    assert_int_equal(f.translators, RG_SPIRV_CROSS_ALL);
    assert_true(f.fixable);
    assert_string_equal(f.name, "g");
    assert_string_equal(f.opcode, "OpLoad");
    assert_string_equal(f.file, "f.c");
    assert_int_equal(f.line, 12);
    assert_int_equal(f.column, 5);
    assert_int_equal(m.words[f.changed_word] & 0xffff, SpvOpStore);
    assert_int_equal(m.words[f.used_word] & 0xffff, SpvOpStore);
    assert_true(f.word < f.changed_word && f.changed_word < f.used_word);
    assert_int_equal(rg_spirv_report_finding(r, 1, &f), RG_ERROR_ARGUMENT);
    rg_spirv_report_release(r);
}

static void leaves_a_clean_module(void **state) {
    (void)state;
    module m;
    build(&m, false);
    void *out;
    size_t size;
    rg_spirv_report *r;
    assert_int_equal(rg_spirv_fix(m.words, m.n * 4, NULL, &out, &size, &r), RG_OK);
    assert_int_equal(rg_spirv_report_count(r), 0);
    assert_int_equal(size, m.n * 4);
    assert_memory_equal(out, m.words, size);
    rg_spirv_free(NULL, out);
    rg_spirv_report_release(r);
}

static uint32_t swap(uint32_t w) {
    return w << 24 | (w & 0xff00) << 8 | (w >> 8 & 0xff00) | w >> 24;
}

static void fixes_once_in_either_byte_order(void **state) {
    (void)state;
    module m;
    build(&m, true);
    void *out, *again, *swapped;
    size_t size, size_again, size_swapped;
    assert_int_equal(rg_spirv_fix(m.words, m.n * 4, NULL, &out, &size, NULL), RG_OK);
    assert_true(size > m.n * 4);
    assert_int_equal(rg_spirv_fix(out, size, NULL, &again, &size_again, NULL), RG_OK);
    assert_int_equal(size, size_again);
    assert_memory_equal(out, again, size);
    for (size_t k = 0; k < m.n; k++)
        m.words[k] = swap(m.words[k]);
    assert_int_equal(rg_spirv_fix(m.words, m.n * 4, NULL, &swapped, &size_swapped, NULL), RG_OK);
    assert_int_equal(size, size_swapped);
    for (size_t k = 0; k < size / 4; k++)
        assert_int_equal(((uint32_t *)out)[k], swap(((uint32_t *)swapped)[k]));
    rg_spirv_free(NULL, out);
    rg_spirv_free(NULL, again);
    rg_spirv_free(NULL, swapped);
}

static void refuses_what_is_no_spirv(void **state) {
    (void)state;
    module m;
    rg_spirv_report *r;
    void *out;
    size_t size;
    build(&m, true);
    /* every prefix, and every word replaced: an answer, whichever, and no fault */
    for (size_t n = 0; n < m.n; n++) {
        rg_status s = rg_spirv_check(m.words, n * 4, NULL, &r);
        /* before the function begins, and after a whole instruction, it is a module still */
        assert_true(s == RG_ERROR_SOURCE || s == RG_OK);
        assert_int_equal(s != RG_OK, *rg_spirv_report_message(r) != 0);
        assert_int_equal(rg_spirv_report_count(r), 0);
        rg_spirv_report_release(r);
    }
    assert_int_equal(rg_spirv_check(m.words, m.n * 4 - 1, NULL, &r), RG_ERROR_SOURCE);
    rg_spirv_report_release(r);
    static const uint32_t odd[] = {0, 1, 7, 0xffffffff, 0x7fffffff, 0x10000, 0x50041, BOUND};
    for (size_t n = 0; n < m.n; n++)
        for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
            uint32_t was = m.words[n];
            m.words[n] = odd[k];
            rg_status s = rg_spirv_fix(m.words, m.n * 4, NULL, &out, &size, &r);
            assert_true(s == RG_OK || s == RG_ERROR_SOURCE || s == RG_ERROR_REFUSED);
            rg_spirv_free(NULL, out);
            rg_spirv_report_release(r);
            m.words[n] = was;
        }
}

/* Fails the allocation that `left` counts down to, and counts bytes. */
typedef struct budget {
    size_t left, live;
} budget;

static void *resize(void *user, void *old, size_t old_size, size_t size) {
    budget *b = user;
    if (size && b->left == 0)
        return NULL;
    if (size)
        b->left--;
    b->live += size;
    b->live -= old_size;
    if (size)
        return realloc(old, size);
    free(old);
    return NULL;
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    module m;
    build(&m, true);
    bool done = false;
    for (size_t n = 0; !done; n++) {
        assert_true(n < 100);
        budget b = {n, 0};
        rg_spirv_repair_options o = {.size = sizeof o, .resize = resize, .user = &b};
        void *out;
        size_t size;
        rg_spirv_report *r;
        rg_status s = rg_spirv_fix(m.words, m.n * 4, &o, &out, &size, &r);
        assert_true(s == RG_OK || s == RG_ERROR_MEMORY);
        done = s == RG_OK;
        assert_true(done == (out != NULL));
        rg_spirv_free(&o, out);
        rg_spirv_report_release(r);
        assert_int_equal(b.live, 0);
    }
}

static void takes_only_the_translators_asked_for(void **state) {
    (void)state;
    module m;
    build(&m, true);
    for (size_t n = 0; n < m.n; n++) /* the load made volatile: right from 1.4.357 on */
        if ((m.words[n] & 0xffff) == SpvOpLoad && m.words[n] >> 16 == 6)
            m.words[n + 4] |= SpvMemoryAccessVolatileMask;
    rg_spirv_repair_options o = {.size = sizeof o, .translators = RG_SPIRV_CROSS_1_4_357};
    rg_spirv_report *r;
    assert_int_equal(rg_spirv_check(m.words, m.n * 4, &o, &r), RG_OK);
    assert_int_equal(rg_spirv_report_count(r), 0);
    rg_spirv_report_release(r);
    assert_int_equal(rg_spirv_check(m.words, m.n * 4, NULL, &r), RG_OK);
    assert_int_equal(rg_spirv_report_count(r), 1);
    rg_spirv_report_release(r);
}

static void rejects_bad_arguments(void **state) {
    (void)state;
    rg_spirv_report *r;
    size_t size;
    void *out;
    rg_spirv_repair_options o = {.size = 1};
    assert_int_equal(rg_spirv_check(NULL, 4, NULL, &r), RG_ERROR_ARGUMENT);
    assert_null(r);
    assert_int_equal(rg_spirv_check("", 0, &o, &r), RG_ERROR_ARGUMENT);
    assert_int_equal(rg_spirv_check("", 0, NULL, NULL), RG_ERROR_ARGUMENT);
    assert_int_equal(rg_spirv_fix("", 0, NULL, NULL, &size, NULL), RG_ERROR_ARGUMENT);
    assert_int_equal(rg_spirv_fix("", 0, NULL, &out, &size, NULL), RG_ERROR_SOURCE);
    assert_null(out);
    rg_spirv_free(NULL, NULL);
    rg_spirv_report_release(NULL);
    assert_string_equal(rg_spirv_fault_name(RG_SPIRV_LOAD_LATE), "load-late");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_a_late_load),
        cmocka_unit_test(leaves_a_clean_module),
        cmocka_unit_test(fixes_once_in_either_byte_order),
        cmocka_unit_test(refuses_what_is_no_spirv),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(takes_only_the_translators_asked_for),
        cmocka_unit_test(rejects_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
