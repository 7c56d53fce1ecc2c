/* retrograd explain: what the adjoint of a kernel costs, per source line, and why. */
#include "text_out.h"

static int run(const rg_cli_args *a) {
    if (!a->file)
        rg_cli_problem("explain wants a kernel file: retrograd explain FILE [KERNEL]");
    if (a->values.n)
        rg_cli_problem("explain takes no values");
    for (size_t i = 0; i < a->extra.n; i++)
        rg_cli_problem("'%s' is one name too many", a->extra.at[i]);
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    return rg_cli_text_out(a, RG_TARGET_EXPLAIN, RG_MODE_ADJOINT);
}

const rg_cli_command rg_cmd_explain = {
    .name = "explain",
    .usage = "FILE [KERNEL]",
    .summary = "say what an adjoint saves, runs again, and accumulates with atomics",
    .about = "Prints, per source line, what the adjoint saves, keeps and re-executes, how each\n"
             "gradient accumulates, where an atomic stays, and why.",
    .examples = "  retrograd explain springs.c energy\n"
                "  retrograd explain springs.c --active pos\n",
    .options = RG_OPT_BIT(ACTIVE) | RG_OPT_BIT(OUTPUT) | RG_OPT_BIT(EDGES) | RG_OPT_BIT(DEFINE) |
               RG_OPT_BIT(INCLUDE) | RG_OPT_BIT(CPP) | RG_OPT_BIT(HELP),
    .run = run,
};
