/* retrograd spirv: what translators to Metal get wrong in SPIR-V from any compiler, and the repair.
 */
#include "args.h"
#include "json.h"

#include <errno.h>
#include <string.h>

static const char *const actions[] = {"check", "fix", NULL};

static const struct {
    unsigned bit;
    const char *name;
} versions[] = {{RG_SPIRV_CROSS_1_3_239, "1.3.239"},
                {RG_SPIRV_CROSS_1_4_304, "1.4.304"},
                {RG_SPIRV_CROSS_1_4_357, "1.4.357"}};
enum { N_VERSIONS = sizeof versions / sizeof versions[0] };

static unsigned since(const char *version) {
    unsigned bits = 0;
    for (size_t k = N_VERSIONS; k-- > 0;) {
        bits |= versions[k].bit;
        if (version && strcmp(version, versions[k].name) == 0)
            return bits;
    }
    if (version)
        rg_cli_problem("--since knows 1.3.239, 1.4.304 and 1.4.357, not '%s'", version);
    return bits;
}

static const char *where(const rg_spirv_finding *f) {
    if (!f->file)
        return "";
    return rg_cli_format("%s:%u:%u: ", f->file, (unsigned)f->line, (unsigned)f->column);
}

static void print_text(const char *path, const rg_spirv_report *r, FILE *to) {
    size_t n = rg_spirv_report_count(r), fixable = 0;
    for (size_t k = 0; k < n; k++) {
        rg_spirv_finding f = {.size = sizeof f};
        rg_spirv_report_finding(r, k, &f);
        fixable += f.fixable;
        fprintf(to, "%s: ", path);
        if (f.word)
            fprintf(to, "word %u: ", (unsigned)f.word);
        fprintf(to, "%s%s", where(&f), f.opcode);
        if (f.id && f.word)
            fprintf(to, " %s", f.name);
        if (*f.function)
            fprintf(to, " in %s", f.function);
        fprintf(to, "%s%s [%s; SPIRV-Cross", f.word ? ": " : "", f.text,
                rg_spirv_fault_name(f.fault));
        const char *comma = " ";
        for (size_t v = 0; v < N_VERSIONS; v++)
            if (f.translators & versions[v].bit) {
                fprintf(to, "%s%s", comma, versions[v].name);
                comma = ", ";
            }
        fputs("]\n", to);
        if (f.changed_word)
            fprintf(to, "%s: word %u: note: it may be changed here, and is used at word %u\n", path,
                    (unsigned)f.changed_word, (unsigned)f.used_word);
    }
    if (n)
        fprintf(to, "%s: %zu found, %zu of them fixable\n", path, n, fixable);
    else
        fprintf(to, "%s: clean\n", path);
}

static void print_json(const char *path, const rg_spirv_report *r, bool valid, const char *out) {
    rg_json j = rg_json_open(stdout);
    rg_json_object(&j);
    rg_json_key(&j, "file");
    rg_json_string(&j, path);
    rg_json_key(&j, "valid");
    rg_json_bool(&j, valid);
    if (!valid) {
        rg_json_key(&j, "message");
        rg_json_string(&j, rg_spirv_report_message(r));
    }
    if (out) {
        rg_json_key(&j, "output");
        rg_json_string(&j, out);
    }
    rg_json_key(&j, "findings");
    rg_json_array(&j, false);
    for (size_t k = 0; k < rg_spirv_report_count(r); k++) {
        rg_spirv_finding f = {.size = sizeof f};
        rg_spirv_report_finding(r, k, &f);
        rg_json_object(&j);
        rg_json_key(&j, "fault");
        rg_json_string(&j, rg_spirv_fault_name(f.fault));
        rg_json_key(&j, "text");
        rg_json_string(&j, f.text);
        rg_json_key(&j, "fixable");
        rg_json_bool(&j, f.fixable);
        rg_json_key(&j, "function");
        rg_json_string(&j, f.function);
        rg_json_key(&j, "opcode");
        rg_json_string(&j, f.opcode);
        rg_json_key(&j, "id");
        rg_json_int(&j, f.id);
        rg_json_key(&j, "name");
        rg_json_string(&j, f.name);
        rg_json_key(&j, "word");
        rg_json_int(&j, f.word);
        if (f.changed_word) {
            rg_json_key(&j, "changed_word");
            rg_json_int(&j, f.changed_word);
            rg_json_key(&j, "used_word");
            rg_json_int(&j, f.used_word);
        }
        rg_json_key(&j, "source");
        rg_json_string(&j, f.file);
        if (f.file) {
            rg_json_key(&j, "line");
            rg_json_int(&j, f.line);
            rg_json_key(&j, "column");
            rg_json_int(&j, f.column);
        }
        rg_json_key(&j, "translators");
        rg_json_array(&j, true);
        for (size_t v = 0; v < N_VERSIONS; v++)
            if (f.translators & versions[v].bit)
                rg_json_string(&j, versions[v].name);
        rg_json_array_end(&j);
        rg_json_object_end(&j);
    }
    rg_json_array_end(&j);
    rg_json_object_end(&j);
    rg_json_close(&j);
}

static bool write_file(const char *path, const void *bytes, size_t size) {
    bool to_stdout = strcmp(path, "-") == 0;
    FILE *f = to_stdout ? stdout : fopen(path, "wb");
    bool ok = f && fwrite(bytes, 1, size, f) == size;
    if (f && !to_stdout)
        ok = fclose(f) == 0 && ok;
    if (!ok)
        rg_cli_problem("%s could not be written: %s", path, strerror(errno));
    return ok;
}

static int run(const rg_cli_args *a) {
    const char *action = a->file, *path = a->kernel;
    bool fix = action && strcmp(action, "fix") == 0;
    if (!action || (!fix && strcmp(action, "check") != 0)) {
        const char *near = action ? rg_cli_nearest(action, actions) : NULL;
        if (near)
            rg_cli_problem("spirv has no '%s': did you mean '%s'?", action, near);
        else
            rg_cli_problem("spirv wants 'check' or 'fix', then a file");
    } else if (!path) {
        rg_cli_problem("spirv %s wants a SPIR-V file", action);
    }
    for (size_t i = 0; i < a->extra.n; i++)
        rg_cli_problem("'%s' is one name too many", a->extra.at[i]);
    if (a->values.n)
        rg_cli_problem("spirv takes no values");
    if (fix && !a->output)
        rg_cli_problem("spirv fix wants -o OUT.spv, where to write the repaired module");
    if (action && !fix && a->output)
        rg_cli_problem("spirv check writes no file: -o is for spirv fix");
    if (fix && a->json && a->output && strcmp(a->output, "-") == 0)
        rg_cli_problem("--json and -o - would both write to standard output");
    rg_spirv_repair_options o = {.size = sizeof o, .translators = since(a->since)};
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    size_t size = 0, out_size = 0;
    errno = 0;
    char *bytes = rg_cli_read_file(path, &size);
    if (!bytes) {
        rg_cli_problem("%s could not be read: %s", path, strerror(errno));
        return RG_CLI_BAD;
    }
    rg_spirv_report *report = NULL;
    void *out = NULL;
    rg_status s = fix ? rg_spirv_fix(bytes, size, &o, &out, &out_size, &report)
                      : rg_spirv_check(bytes, size, &o, &report);
    int status = RG_CLI_BAD;
    if (s == RG_OK && (!fix || write_file(a->output, out, out_size)))
        status = rg_spirv_report_count(report) ? RG_CLI_FAILED : RG_CLI_OK;
    if (s == RG_ERROR_SOURCE)
        rg_cli_problem("%s is not valid SPIR-V: %s", path, rg_spirv_report_message(report));
    else if (s != RG_OK)
        rg_cli_problem("%s: %s", path,
                       report && *rg_spirv_report_message(report) ? rg_spirv_report_message(report)
                                                                  : rg_status_name(s));
    if (a->json && report)
        print_json(path, report, s != RG_ERROR_SOURCE, s == RG_OK ? a->output : NULL);
    else if (s == RG_OK && !fix)
        print_text(path, report, stdout);
    else if (s == RG_OK && rg_spirv_report_count(report))
        print_text(a->output, report, stderr);
    rg_spirv_free(&o, out);
    rg_spirv_report_release(report);
    return status;
}

const rg_cli_command rg_cmd_spirv = {
    .name = "spirv",
    .usage = "check FILE.spv | fix FILE.spv -o OUT.spv",
    .summary = "find, or repair, what translators to Metal get wrong in SPIR-V",
    .about =
        "For SPIR-V from any compiler that is to run through MoltenVK.\n"
        "\n"
        "check  names each load through a physical pointer (buffer device address) that the\n"
        "       translator may move past a store, atomics that it prints wrongly, more than 31\n"
        "       buffer slots, and what no translator accepts. Exit status 1 when anything was\n"
        "       found, 0 when clean, 2 when FILE is not valid SPIR-V.\n"
        "fix    rewrites what check names, and nothing else; a clean module comes back byte for\n"
        "       byte. Exit status 1 when something is left that cannot be rewritten.\n"
        "\n"
        "docs/moltenvk.md explains the fault and the ways out.",
    .examples = "  retrograd spirv check shader.spv\n"
                "  retrograd spirv fix shader.spv -o fixed.spv\n"
                "  retrograd spirv check shader.spv --since 1.4.304 --json\n",
    .options = RG_OPT_BIT(OUTPUT) | RG_OPT_BIT(SINCE) | RG_OPT_BIT(JSON) | RG_OPT_BIT(HELP),
    .run = run,
};
