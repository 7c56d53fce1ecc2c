/* The stencils of a parallel: addto's that reach the same elements, shifted. */
#ifndef RG_AD_STENCIL_H
#define RG_AD_STENCIL_H

#include "ad/gradmem.h"
#include "ad/guard.h"

enum { RG_STENCIL_SHIFT = 1 << 20, RG_STENCIL_TESTS = 64 };

/* A condition that an addto stands under. exact: it holds just where the reach says. */
typedef struct rg_test {
    rg_val c;
    bool truth, exact;
} rg_test;

/* The value of a branch or a select in an index, and what it is in one of the two cases. */
typedef struct rg_choice {
    rg_val v, is;
} rg_choice;

/* What an addto adds to, or where branches choose its index, what it adds to in one case. */
typedef struct rg_scatter {
    rg_iid addto;
    uint32_t cases; /* how many scatters the addto makes */
    rg_test *tests; /* outermost first */
    uint32_t ntests;
    rg_choice *choices; /* a later one may be in what an earlier one is */
    uint32_t nchoices;
    rg_reach reach[RG_NEST_RANGES];
    rg_poly *index; /* [axes of the array] */
    uint32_t fixed; /* bit k: index k is the same in all iterations */
    /* axis[r]: whose index the variable of range r is in, UINT32_MAX: none. Then the reach is one
     * iteration, pin[r] is its variable's value, and the variable may be added where a stencil has
     * it. */
    uint32_t axis[RG_NEST_RANGES];
    rg_poly *pin[RG_NEST_RANGES];
    int64_t shift[RG_NEST_RANGES]; /* set with the stencil */
    bool taken;
} rg_scatter;

typedef RG_VEC(rg_scatter *) rg_scatters;

/* Scatters to index = sum of stride[r] * (variable of r + shift[r]) + base, on each axis. */
typedef struct rg_stencil {
    rg_scatters all; /* in the order of the text */
    uint32_t axis[RG_NEST_RANGES];
    rg_poly stride[RG_NEST_RANGES];
    uint32_t order[RG_NEST_RANGES]; /* ranges, those with the largest strides first */
    uint32_t plain;                 /* bit k: index k is one variable + shift and no more */
    const rg_scatter *like;         /* the one whose index is best computed again */
} rg_stencil;

/* All that addto reaches. false: no stencil's. */
bool rg_stencil_scatters(const rg_nest *s, rg_arena *scratch, rg_iid addto, rg_scatters *out);
/* Takes all->at[first] and whatever is like it out of `all`. false: not two. *questions is counted
 * down, at 0 no more is asked. */
bool rg_stencil_of(const rg_nest *s, rg_arena *scratch, const rg_scatters *all, uint32_t first,
                   int *questions, rg_stencil *out);
/* Have elements lo + from[r] to hi + to[r] of the ranges, as sums of strides, an index each? */
bool rg_stencil_apart(const rg_nest *s, const rg_stencil *x, const int64_t *from,
                      const int64_t *to);

#endif
