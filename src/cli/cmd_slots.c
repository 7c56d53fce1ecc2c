/* retrograd slots: the Metal buffer slots that a kernel takes, from its translated source. */
#include "session.h"

#include "binding.h"
#include "progress.h"
#include "text_out.h"

static const char *const names[] = {"primal", "adjoint", "tangent"};
static const rg_kernel_mode modes[] = {RG_MODE_PRIMAL, RG_MODE_ADJOINT, RG_MODE_TANGENT};
enum { MODES = sizeof modes / sizeof *modes };

/* One line; *status when it does not fit, or could not be found out. */
static void one(const rg_cli_args *a, rg_cli_session *s, rg_kernel *k, const bool *active, int m,
                int *status) {
    rg_emit_options e = {
        .size = sizeof e, .mode = modes[m], .active = active, .addressing = a->addressing};
    rg_slots_info info = {.size = sizeof info};
    rg_cli_progress("translating %s", rg_kernel_name(k));
    rg_status st = rg_kernel_slots(k, &e, &info);
    rg_cli_progress(NULL);
    if (st != RG_OK) {
        rg_cli_session_fail(s->ctx, rg_kernel_name(k), st);
        *status = RG_CLI_BAD;
    } else {
        printf("%s %s slots=%u arrays=%u\n", rg_kernel_name(k), names[m], info.slots, info.arrays);
        if (info.slots > info.limit) {
            fflush(stdout);
            fprintf(stderr, "retrograd: %s %s needs %u buffer slots: Metal has %u\n",
                    rg_kernel_name(k), names[m], info.slots, info.limit);
            if (*status == RG_CLI_OK)
                *status = RG_CLI_FAILED;
        }
    }
}

static int run(const rg_cli_args *a) {
    if (!a->file)
        rg_cli_problem("slots wants a kernel file: retrograd slots FILE [KERNEL]");
    if (a->values.n)
        rg_cli_problem("slots takes no values");
    for (size_t i = 0; i < a->extra.n; i++)
        rg_cli_problem("'%s' is one name too many", a->extra.at[i]);
    if (a->has_mode && rg_cli_second_order(a))
        rg_cli_problem("slots counts for primal, adjoint and tangent, not those of second order");
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    rg_cli_session s;
    rg_kernel **kernels;
    size_t n = 0;
    int status = RG_CLI_OK;
    if (!rg_cli_session_open(a, NULL, RG_CLI_HOST_ONLY, &s) ||
        !rg_cli_session_kernels(&s, a->kernel, &kernels, &n))
        status = RG_CLI_BAD;
    for (size_t i = 0; i < n && status != RG_CLI_BAD; i++) {
        const bool *active = rg_cli_active(kernels[i], s.ctx, a->active, n == 1);
        for (int m = 0; m < MODES && !rg_cli_problem_count(); m++)
            if (!a->has_mode || a->mode == modes[m])
                one(a, &s, kernels[i], active, m, &status);
    }
    rg_cli_session_close(&s);
    return rg_cli_problem_count() ? RG_CLI_BAD : status;
}

const rg_cli_command rg_cmd_slots = {
    .name = "slots",
    .usage = "FILE [KERNEL] [--mode M]",
    .summary = "count the Metal buffer slots that a kernel takes",
    .about = "Translates each kernel's primal, adjoint and tangent to Metal, by SPIRV-Cross as "
             "MoltenVK\n"
             "does, and prints a line for each: KERNEL MODE slots=N arrays=M. N is the number of "
             "buffer\n"
             "slots of its most demanding task, M the kernel's array parameters. More than the 31 "
             "slots\n"
             "that Metal has is an error, with exit status 1.\n"
             "$RETROGRAD_SPIRV_CROSS names another libspirv-cross-c-shared than the system's.",
    .examples = "  retrograd slots springs.c\n"
                "  retrograd slots springs.c energy --mode adjoint --addressing offset\n",
    .options = RG_OPT_BIT(MODE) | RG_OPT_BIT(ACTIVE) | RG_OPT_BIT(ADDRESSING) | RG_OPT_BIT(EDGES) |
               RG_OPT_BIT(DEFINE) | RG_OPT_BIT(INCLUDE) | RG_OPT_BIT(CPP) | RG_OPT_BIT(HELP),
    .run = run,
};
