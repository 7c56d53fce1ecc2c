/* The gradient of a by-value parameter is the data of an array of shape [1]. */
#include "launch.h"

#include "dtype.h"

#include <string.h>

rg_status rg_cli_launch_new(rg_kernel *k, const rg_cli_binding *b, bool gradients,
                            rg_cli_launch *l) {
    static const int64_t one[1] = {1};
    *l = (rg_cli_launch){k, b, rg_cli_alloc(b->n, sizeof(rg_arg)), NULL};
    for (size_t i = 0; i < b->n; i++) {
        const rg_cli_param *p = &b->params[i];
        bool gradient = gradients && p->info.has_float;
        rg_status st = RG_OK;
        if (p->info.is_array) {
            st = rg_array_for(k, i, p->info.rank, p->shape, gradient, &l->args[i].array);
        } else {
            l->args[i].value = p->data;
            if (gradient)
                st = rg_array_for(k, i, 1, one, false, &l->args[i].gradient);
        }
        if (st != RG_OK)
            return st;
    }
    return RG_OK;
}

void rg_cli_launch_free(rg_cli_launch *l) {
    for (size_t i = 0; l->args && i < l->binding->n; i++) {
        if (l->args[i].array)
            rg_array_release(l->args[i].array);
        if (l->args[i].gradient)
            rg_array_release(l->args[i].gradient);
        if (l->directions && l->directions[i].tangent)
            rg_array_release(l->directions[i].tangent);
        if (l->directions && l->directions[i].product)
            rg_array_release(l->directions[i].product);
    }
    l->args = NULL;
    l->directions = NULL;
}

bool rg_cli_launch_has_gradient(const rg_cli_launch *l, size_t i) {
    return l->args[i].gradient || (l->args[i].array && rg_array_has_gradient(l->args[i].array));
}

static size_t bytes_of(const rg_cli_launch *l, size_t i) {
    return l->binding->params[i].count * l->binding->params[i].info.item_size;
}

rg_status rg_cli_launch_reset(rg_cli_launch *l) {
    rg_status st = RG_OK;
    for (size_t i = 0; i < l->binding->n && st == RG_OK; i++) {
        rg_array *a = l->args[i].array;
        if (a)
            st = rg_array_write(a, RG_DATA, l->binding->params[i].data, bytes_of(l, i));
        if (st == RG_OK && a && rg_array_has_gradient(a))
            st = rg_array_fill_zero(a, RG_GRADIENT);
        if (st == RG_OK && l->args[i].gradient)
            st = rg_array_fill_zero(l->args[i].gradient, RG_DATA);
    }
    return st;
}

rg_status rg_cli_launch_set_gradient(rg_cli_launch *l, size_t i, const void *from) {
    if (l->args[i].gradient)
        return rg_array_write(l->args[i].gradient, RG_DATA, from, bytes_of(l, i));
    return rg_array_write(l->args[i].array, RG_GRADIENT, from, bytes_of(l, i));
}

rg_status rg_cli_launch_get_gradient(rg_cli_launch *l, size_t i, void *to) {
    if (l->args[i].gradient)
        return rg_array_read(l->args[i].gradient, RG_DATA, to, bytes_of(l, i));
    return rg_array_read(l->args[i].array, RG_GRADIENT, to, bytes_of(l, i));
}

rg_status rg_cli_launch_directions(rg_cli_launch *l) {
    static const int64_t one[1] = {1};
    l->directions = rg_cli_alloc(l->binding->n, sizeof *l->directions);
    for (size_t i = 0; i < l->binding->n; i++) {
        const rg_cli_param *p = &l->binding->params[i];
        rg_direction *d = &l->directions[i];
        if (!rg_cli_launch_has_gradient(l, i))
            continue;
        size_t rank = p->info.is_array ? p->info.rank : 1;
        const int64_t *shape = p->info.is_array ? p->shape : one;
        rg_status st = rg_array_for(l->kernel, i, rank, shape, false, &d->tangent);
        if (st == RG_OK)
            st = rg_array_for(l->kernel, i, rank, shape, false, &d->product);
        if (st == RG_OK && p->direction_seed)
            st = rg_array_write(d->tangent, RG_DATA, p->direction_seed, bytes_of(l, i));
        if (st != RG_OK)
            return st;
    }
    return RG_OK;
}

rg_status rg_cli_launch_get_direction(rg_cli_launch *l, size_t i, bool product, void *to) {
    const rg_direction *d = &l->directions[i];
    return rg_array_read(product ? d->product : d->tangent, RG_DATA, to, bytes_of(l, i));
}

rg_status rg_cli_launch_get_data(rg_cli_launch *l, size_t i, void *to) {
    if (!l->args[i].array) {
        memcpy(to, l->binding->params[i].data, bytes_of(l, i));
        return RG_OK;
    }
    return rg_array_read(l->args[i].array, RG_DATA, to, bytes_of(l, i));
}
