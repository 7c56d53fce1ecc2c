/* rg_half for C compilers: a half-precision float, for storage (docs/kernel-c.md). Retrograd itself
 * knows this header without a file. */
#ifndef RG_HALF_H
#define RG_HALF_H

#if defined(__FLT16_MANT_DIG__)
typedef _Float16 rg_half;
#elif defined(__ARM_FP16_FORMAT_IEEE)
typedef __fp16 rg_half;
#else
#error                                                                                             \
    "this compiler has no half type for this target: gcc 12 and clang 15 have on x86-64 and arm64"
#endif

#endif
