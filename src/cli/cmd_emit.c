/* retrograd emit: a kernel's variant as text. */
#include "text_out.h"

#include <string.h>

static const char *const targets[] = {"c", "ir", "cpu", "spirv", "msl", NULL};
/* Targets that the project has in view, so that the error says something better than "unknown". */
static const char *const later[] = {"cuda", "hip", "opencl", "metal", NULL};

static int run(const rg_cli_args *args) {
    rg_cli_args a = *args;
    rg_target target = RG_TARGET_C;
    const char *t = a.target ? a.target : "c";
    bool found = true;
    if (strcmp(t, "c") == 0)
        target = RG_TARGET_C;
    else if (strcmp(t, "ir") == 0)
        target = RG_TARGET_IR;
    else if (strcmp(t, "cpu") == 0)
        target = RG_TARGET_CPU;
    else if (strcmp(t, "spirv") == 0)
        target = RG_TARGET_SPIRV;
    else if (strcmp(t, "msl") == 0)
        target = RG_TARGET_MSL;
    else
        found = false;
    if (!found) {
        bool known = false;
        for (size_t i = 0; later[i]; i++)
            known = known || strcmp(t, later[i]) == 0;
        const char *near = rg_cli_nearest(t, targets);
        if (known)
            rg_cli_problem("target '%s' is not in this version: c, ir, cpu, spirv and msl are", t);
        else if (near)
            rg_cli_problem("unknown target '%s': did you mean '%s'?", t, near);
        else
            rg_cli_problem("unknown target '%s': c, ir, cpu, spirv or msl", t);
    }
    if (!a.file)
        rg_cli_problem("emit wants a kernel file: retrograd emit FILE [--kernel K] --target T");
    if (a.values.n)
        rg_cli_problem("emit takes no values");
    if (a.extra.n == 1 && !a.kernel)
        a.kernel = a.extra.at[0]; /* as the other commands take it */
    else if (a.extra.n)
        rg_cli_problem("'%s' is one name too many", a.extra.at[a.extra.n - 1]);
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    return rg_cli_text_out(&a, target, a.has_mode ? a.mode : RG_MODE_ADJOINT);
}

const rg_cli_command rg_cmd_emit = {
    .name = "emit",
    .usage = "FILE [--kernel K] [--target T] [--mode M] [-o PATH]",
    .summary = "print the adjoint, tangent or primal as C, IR, SPIR-V or Metal",
    .about =
        "Writes a kernel's adjoint (or what --mode names) as text:\n"
        "  c     stand-alone C99, for people and for any compiler:\n"
        "        void f_adjoint(parameters, each active array x followed by x_b and each active\n"
        "        scalar k by k_b[1], then void *scratch); size_t f_adjoint_scratch(...)\n"
        "  ir    the compiler's own form, after all passes\n"
        "  cpu   what the cpu device compiles\n"
        "  spirv a binary module for Vulkan, with an entry point task0, task1 ... for each task\n"
        "  msl   that, translated to Metal by SPIRV-Cross as MoltenVK does\n"
        "With several kernels in the file, --kernel picks one; else all are written: as c into\n"
        "one file that compiles, otherwise one after another, each a complete text.",
    .examples = "  retrograd emit springs.c --kernel energy --target c -o energy_adjoint.c\n"
                "  retrograd emit springs.c --mode tangent\n"
                "  retrograd emit springs.c --active pos --target ir\n"
                "  retrograd emit springs.c --kernel energy --target spirv -o energy.spv\n",
    .options = RG_OPT_BIT(KERNEL) | RG_OPT_BIT(TARGET) | RG_OPT_BIT(MODE) | RG_OPT_BIT(OUTPUT) |
               RG_OPT_BIT(ACTIVE) | RG_OPT_BIT(ADDRESSING) | RG_OPT_BIT(EDGES) |
               RG_OPT_BIT(DEFINE) | RG_OPT_BIT(INCLUDE) | RG_OPT_BIT(CPP) | RG_OPT_BIT(HELP),
    .run = run,
};
