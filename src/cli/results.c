/* A result is a parameter and a part: its data, or its gradient (tangent) array. */
#include "results.h"

#include "dtype.h"

#include <stdlib.h>
#include <string.h>

static const char *part_of_mode(rg_kernel_mode m) {
    return m == RG_MODE_ADJOINT                                  ? "grad"
           : m == RG_MODE_TANGENT                                ? "dot"
           : m == RG_MODE_HVP || m == RG_MODE_ADJOINT_OF_TANGENT ? "hvp"
                                                                 : "";
}

void rg_cli_results_check(const rg_cli_binding *b, const rg_cli_args *a) {
    for (size_t i = 0; i < a->outs.n; i++) {
        const rg_cli_pair *o = &a->outs.at[i];
        const rg_cli_param *p = rg_cli_binding_find(b, o->name);
        if (!p) {
            rg_cli_binding_unknown(b, o->name);
            continue;
        }
        if (!*o->part) {
            if (!p->info.is_array)
                rg_cli_problem("--out %s: '%s' is passed by value, so the kernel gives nothing "
                               "back in it%s",
                               o->name, o->name,
                               p->info.has_float ? ", but a gradient: "
                                                   "--out NAME.grad"
                                                 : "");
            else if (p->layout.dtype == RG_DTYPE_STRUCT && strcmp(o->value, "-") != 0 && !a->json)
                rg_cli_problem("--out %s: the fields of %s differ in type, which no .npy file "
                               "takes: print it with --out %s=-",
                               o->name, p->type, o->name);
            continue;
        }
        const char *wants = strcmp(o->part, "grad") == 0  ? "adjoint"
                            : strcmp(o->part, "dot") == 0 ? "tangent"
                            : strcmp(o->part, "hvp") == 0 ? "hvp"
                                                          : NULL;
        if (!wants)
            rg_cli_problem("--out %s.%s: a result is NAME, NAME.grad, NAME.dot or NAME.hvp",
                           o->name, o->part);
        else if (strcmp(o->part, part_of_mode(a->mode)) != 0 && !rg_cli_second_order(a))
            rg_cli_problem("--out %s.%s wants --mode %s", o->name, o->part, wants);
        else if (!p->info.has_float)
            rg_cli_problem("--out %s.%s: '%s' is %s, which carries no gradient", o->name, o->part,
                           o->name, rg_cli_param_text(p));
        else if (p->layout.dtype == RG_DTYPE_STRUCT && strcmp(o->value, "-") != 0)
            rg_cli_problem(
                "--out %s.%s: the fields of %s differ in type, which no .npy file takes: "
                "print it with --out %s.%s=-",
                o->name, o->part, p->type, o->name, o->part);
    }
}

/* Shape as it is shown: by-value parameters are [1], structs have an axis of their fields. */
static size_t shown_shape(const rg_cli_param *p, int64_t *shape) {
    size_t rank = p->info.is_array ? p->info.rank : 1;
    shape[0] = 1;
    if (p->info.is_array)
        memcpy(shape, p->shape, rank * sizeof *shape);
    if (p->info.dtype != RG_DTYPE_STRUCT)
        return rank;
    if (!p->info.is_array)
        rank = 0;
    shape[rank++] = (int64_t)p->layout.n;
    return rank;
}

enum { SHORT = 8 };

static void print_text(const char *label, const rg_cli_param *p, const unsigned char *data,
                       size_t rank, const int64_t *shape, bool cut) {
    char text[RG_CLI_SCALAR_TEXT];
    size_t shown = 0;
    printf("%s %s", label, rg_cli_shape_text(rank, shape));
    for (size_t e = 0; e < p->count; e++)
        for (size_t f = 0; f < p->layout.n; f++) {
            if (cut && shown++ == SHORT) {
                fputs(" ...\n", stdout);
                return;
            }
            const rg_field_info *field = &p->layout.fields[f];
            rg_cli_scalar_print(field->dtype, data + e * p->info.item_size + field->offset, text);
            printf(" %s", text);
        }
    putchar('\n');
}

static void print_json(rg_json *j, const char *label, const rg_cli_param *p,
                       const unsigned char *data, size_t rank, const int64_t *shape,
                       const char *path) {
    rg_json_object(j);
    rg_json_key(j, "name");
    rg_json_string(j, label);
    rg_json_key(j, "type");
    rg_json_string(j, p->layout.dtype == RG_DTYPE_STRUCT ? p->type
                                                         : rg_cli_dtype_numpy(p->layout.dtype));
    rg_json_key(j, "shape");
    rg_json_array(j, true);
    for (size_t i = 0; i < rank; i++)
        rg_json_int(j, shape[i]);
    rg_json_array_end(j);
    if (path) {
        rg_json_key(j, "path");
        rg_json_string(j, path);
    } else {
        rg_json_key(j, "values");
        rg_json_array(j, true);
        for (size_t e = 0; e < p->count; e++)
            for (size_t f = 0; f < p->layout.n; f++)
                rg_json_scalar(j, p->layout.fields[f].dtype,
                               data + e * p->info.item_size + p->layout.fields[f].offset);
        rg_json_array_end(j);
    }
    rg_json_object_end(j);
}

static bool write_one(rg_cli_launch *l, const rg_cli_param *p, const char *part, const char *path,
                      rg_json *j, bool cut) {
    const char *label = *part ? rg_cli_format("%s.%s", p->info.name, part) : p->info.name;
    size_t bytes = p->count * p->info.item_size;
    unsigned char *data = calloc(1, bytes ? bytes : 1);
    int64_t shape[RG_NPY_MAX_RANK];
    size_t rank = shown_shape(p, shape);
    char error[256];
    if (!data) {
        rg_cli_problem("out of memory for %s", label);
        return false;
    }
    rg_status st = !*part ? rg_cli_launch_get_data(l, p->index, data)
                   : l->directions && strcmp(part, "grad") != 0
                       ? rg_cli_launch_get_direction(l, p->index, strcmp(part, "hvp") == 0, data)
                       : rg_cli_launch_get_gradient(l, p->index, data);
    bool ok = st == RG_OK;
    if (!ok)
        rg_cli_problem("%s could not be read back: %s", label, rg_status_name(st));
    bool to_file = path && strcmp(path, "-") != 0;
    if (ok && to_file &&
        !rg_npy_write(path, p->layout.dtype, rank, shape, data, error, sizeof error)) {
        rg_cli_problem("%s: %s", path, error);
        ok = false;
    }
    if (ok && j)
        print_json(j, label, p, data, rank, shape, to_file ? path : NULL);
    else if (ok && !to_file)
        print_text(label, p, data, rank, shape, cut);
    free(data);
    return ok;
}

bool rg_cli_results_write(rg_cli_launch *l, const rg_cli_args *a, rg_json *j) {
    const rg_cli_binding *b = l->binding;
    bool ok = true;
    for (size_t i = 0; i < a->outs.n; i++) {
        const rg_cli_pair *o = &a->outs.at[i];
        ok = write_one(l, rg_cli_binding_find(b, o->name), o->part, o->value, j, false) && ok;
    }
    if (a->outs.n)
        return ok;
    for (size_t i = 0; i < b->n; i++)
        if (b->params[i].info.is_array && !b->params[i].info.is_const)
            ok = write_one(l, &b->params[i], "", NULL, j, true) && ok;
    for (size_t i = 0; i < b->n && a->mode != RG_MODE_PRIMAL; i++)
        if (rg_cli_launch_has_gradient(l, i))
            ok = write_one(l, &b->params[i], part_of_mode(a->mode), NULL, j, true) && ok;
    return ok;
}
