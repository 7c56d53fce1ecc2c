/* retrograd: the command line. Finds the command; each one is a file of its own. */
#include "args.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

static const rg_cli_command *const commands[] = {&rg_cmd_devices, &rg_cmd_run,     &rg_cmd_check,
                                                 &rg_cmd_emit,    &rg_cmd_explain, &rg_cmd_bench,
                                                 &rg_cmd_cache,   &rg_cmd_slots,   &rg_cmd_spirv};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void help(FILE *to) {
    fputs("Retrograd turns ordinary C loops into gradients.\n"
          "\n"
          "usage: retrograd COMMAND [options]\n"
          "\n",
          to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "`retrograd COMMAND --help` has the options and examples; `retrograd --version` the\n"
          "version. Exit status: 0 fine, 1 a check failed, 2 bad use or bad input.\n"
          "\n"
          "Examples:\n"
          "  retrograd check springs.c\n"
          "  retrograd run f.c f n=3 x=iota y=zeros --mode adjoint --grad y=ones --out x.grad=-\n"
          "  retrograd emit springs.c --kernel energy --target c\n",
          to);
}

static const rg_cli_command *find(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void unknown(const char *word) {
    const char *names[N_COMMANDS + 1] = {NULL};
    const char *all = "";
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        all = rg_cli_format("%s%s%s", all, i ? ", " : "", names[i]);
    }
    const char *near = rg_cli_nearest(word, names);
    if (word[0] == '-')
        rg_cli_problem("unknown option '%s': a command comes first: %s", word, all);
    else if (near)
        rg_cli_problem("unknown command '%s': did you mean '%s'? There are %s", word, near, all);
    else
        rg_cli_problem("unknown command '%s': there are %s", word, all);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        help(stderr);
        return RG_CLI_BAD;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("retrograd %s\n", rg_version());
        return RG_CLI_OK;
    }
    bool asks = strcmp(word, "help") == 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (asks && argc == 2)) {
        help(stdout);
        return RG_CLI_OK;
    }
    const rg_cli_command *c = find(asks ? argv[2] : word);
    if (!c) {
        unknown(asks ? argv[2] : word);
        return RG_CLI_BAD;
    }
    rg_cli_args args;
    bool fine = rg_cli_args_parse(c, argc - 2, argv + 2, &args);
    if (asks || args.help) {
        rg_cli_problems_flush();
        rg_cli_command_help(c, stdout);
        return RG_CLI_OK;
    }
    return fine ? c->run(&args) : RG_CLI_BAD;
}

int main(int argc, char **argv) {
    int status = dispatch(argc, argv);
    rg_cli_progress_stop();
    if (rg_cli_problems_flush() == RG_CLI_BAD)
        status = RG_CLI_BAD;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("retrograd: standard output could not be written\n", stderr);
        status = RG_CLI_BAD;
    }
    rg_cli_free_all();
    return status;
}
