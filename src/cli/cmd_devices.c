/* retrograd devices: what this build knows, and whether it is there. */
#include "json.h"
#include "session.h"

static int run(const rg_cli_args *a) {
    rg_cli_session s;
    size_t n = 0;
    if (a->file)
        rg_cli_problem("devices takes no names");
    if (rg_cli_problem_count())
        return RG_CLI_BAD;
    bool ok = rg_cli_session_open(a, NULL, RG_CLI_HOST_ONLY, &s);
    rg_status st = ok ? rg_device_count(s.ctx, &n) : RG_OK;
    if (st != RG_OK)
        rg_cli_session_fail(s.ctx, "devices", st);
    ok = ok && st == RG_OK;
    rg_json j = rg_json_open(stdout);
    if (ok && a->json) {
        rg_json_object(&j);
        rg_json_key(&j, "devices");
        rg_json_array(&j, false);
    }
    for (size_t i = 0; ok && i < n; i++) {
        rg_device_info d = {.size = sizeof d};
        st = rg_device_describe(s.ctx, i, &d);
        if (st != RG_OK) {
            rg_cli_session_fail(s.ctx, "devices", st);
            ok = false;
            break;
        }
        if (a->json) {
            rg_json_object(&j);
            rg_json_key(&j, "name");
            rg_json_string(&j, d.name);
            rg_json_key(&j, "available");
            rg_json_bool(&j, d.available);
            rg_json_key(&j, "description");
            rg_json_string(&j, d.description);
            rg_json_key(&j, "why_not");
            rg_json_string(&j, d.available ? NULL : d.why_not);
            rg_json_key(&j, "addressing");
            rg_json_string(&j, *d.addressing ? d.addressing : NULL);
            rg_json_key(&j, "caps");
            rg_json_string(&j, *d.caps ? d.caps : NULL);
            rg_json_object_end(&j);
        } else if (d.available) {
            printf("%-10s available    %s\n", d.name, d.description);
            if (*d.caps)
                printf("%-24s%s\n", "", d.caps);
        } else {
            printf("%-10s unavailable  %s\n", d.name, d.why_not);
        }
    }
    if (ok && a->json) {
        rg_json_array_end(&j);
        rg_json_object_end(&j);
        rg_json_close(&j);
    }
    if (s.ctx)
        rg_cli_session_close(&s);
    return ok ? RG_CLI_OK : RG_CLI_BAD;
}

const rg_cli_command rg_cmd_devices = {
    .name = "devices",
    .usage = "[--json]",
    .summary = "list the devices",
    .about = "Lists the devices that this build knows, and why one is not available.",
    .examples = "  retrograd devices\n",
    .options = RG_OPT_BIT(JSON) | RG_OPT_BIT(HELP),
    .run = run,
};
