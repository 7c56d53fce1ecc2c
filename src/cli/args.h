/* The command line: one table of options, one table of commands that says which options each
 * takes. Help texts are made from both. */
#ifndef RG_CLI_ARGS_H
#define RG_CLI_ARGS_H

#include "retrograd.h"
#include "util.h"

typedef enum rg_cli_option_id {
    RG_OPT_DEVICE,
    RG_OPT_MODE,
    RG_OPT_GRAD,
    RG_OPT_DOT,
    RG_OPT_OUT,
    RG_OPT_KERNEL,
    RG_OPT_TARGET,
    RG_OPT_ADDRESSING,
    RG_OPT_OUTPUT,
    RG_OPT_ACTIVE,
    RG_OPT_SEED,
    RG_OPT_REPEAT,
    RG_OPT_SECOND_ORDER,
    RG_OPT_CHECKED,
    RG_OPT_EDGES,
    RG_OPT_TAPE_MEMORY,
    RG_OPT_THREADS,
    RG_OPT_DEFINE,
    RG_OPT_INCLUDE,
    RG_OPT_CPP,
    RG_OPT_SINCE,
    RG_OPT_JSON,
    RG_OPT_HELP,
    RG_N_OPTS
} rg_cli_option_id;

#define RG_OPT_BIT(id) (UINT32_C(1) << RG_OPT_##id)

/* NAME=VALUE; part is "" or the suffix after the last dot of NAME (--out only). */
typedef struct rg_cli_pair {
    const char *name, *part, *value;
} rg_cli_pair;

typedef struct rg_cli_pairs {
    rg_cli_pair *at;
    size_t n;
} rg_cli_pairs;

typedef struct rg_cli_strings {
    const char **at;
    size_t n;
} rg_cli_strings;

typedef struct rg_cli_args {
    const char *file;     /* NULL: not given */
    const char *kernel;   /* second name, or --kernel */
    rg_cli_strings extra; /* names beyond those */
    rg_cli_pairs values, grads, dots, outs;
    const char *device, *target, *output, *active, *cpp, *since;
    rg_kernel_mode mode;
    rg_addressing addressing;
    bool has_mode, second_order, checked, strict_edges, json, help, has_seed;
    int threads;
    uint64_t seed;
    uint64_t tape_memory; /* 0: the default */
    int repeat;           /* 0: as many as fit the time */
    rg_cli_strings defines, includes;
} rg_cli_args;

static inline bool rg_cli_second_order(const rg_cli_args *a) {
    return a->mode == RG_MODE_HVP || a->mode == RG_MODE_ADJOINT_OF_TANGENT;
}

typedef struct rg_cli_command {
    const char *name;
    const char *usage;    /* after "retrograd NAME " */
    const char *summary;  /* one line */
    const char *about;    /* paragraphs, wrapped by hand */
    const char *examples; /* lines */
    uint32_t options;     /* RG_OPT_BIT()s */
    int (*run)(const rg_cli_args *args);
} rg_cli_command;

/* argv[0] is the first word after the command's name. Problems are reported and kept
 * (rg_cli_problem); false when there were any. */
bool rg_cli_args_parse(const rg_cli_command *c, int argc, char **argv, rg_cli_args *out);
void rg_cli_command_help(const rg_cli_command *c, FILE *to);

/* The commands. */
extern const rg_cli_command rg_cmd_devices, rg_cmd_run, rg_cmd_check, rg_cmd_emit, rg_cmd_explain,
    rg_cmd_bench, rg_cmd_cache, rg_cmd_slots, rg_cmd_spirv;

#endif
