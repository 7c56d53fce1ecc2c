#!/bin/sh
# The whole of what `explain` says about a kernel that has something of everything.
#
#     tests/cli/explain.sh [PATH/TO/retrograd]      (default: build/retrograd)
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:-${RETROGRAD:-$here/../../build/retrograd}}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
RETROGRAD_CACHE=$work/cache
export RETROGRAD_CACHE
cd "$work" || exit 2
cat >f.c <<'E2'
#include <math.h>
void f(int n, int m, int steps, const int at[n], const float w[2], const float u[n],
       const float x[n], float y[n], float z[m], float k)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            float v = x[i] * w[0];
            for (int j = 0; j < 3; j++)
                v = sinf(v) * k;
            y[i] = y[i] * y[i] + v;
        }
    }
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++) {
        float s[2];
        s[0] = u[i - 1];
        s[1] = u[i + 1];
        #pragma omp atomic
        z[at[i]] += s[0] - 2 * u[i] + s[1] + x[at[i]] * x[at[i]];
    }
}
E2
cat >want <<'E2'
kernel f: 2 saved, 1 atomic
f.c:2: void f(int n, int m, int steps, const int at[n], const float w[2], const float u[n],
    read by the adjoint: 'at'
    read by the adjoint: 'w'
f.c:3: const float x[n], float y[n], float z[m], float k)
    read by the adjoint: 'x'
    kept: a copy of 'y' from before the launch, for each record
    copied: y, 4 bytes for each element, to where the sweeps may overwrite it
    reduced add to k.grad: summed in registers over the parallel loop of line 6, then added once
f.c:5: for (int t = 0; t < steps; t++) {
    restored: y, a whole array, from y_saved
    saved: y_saved, a whole array, 4 bytes for each element, for each iteration
    re-executed: the loop
    swept backward: the last iteration first
    memory: 4 bytes for each element of y_saved for each iteration; checkpointed where that is more than the tape memory
f.c:6: #pragma omp parallel for
    restored: y, a whole array, from y_before
    saved: y_before, a whole array, 4 bytes for each element
    re-executed: the loop
    swept backward: in parallel
f.c:8: float v = x[i] * w[0];
    re-executed: load of x, load of w, mul
    plain add to x.grad: each iteration has elements of its own
    reduced add to w.grad: every iteration adds to the same element, so it is summed in registers first
f.c:10: v = sinf(v) * k;
    re-executed: sin, mul
f.c:11: y[i] = y[i] * y[i] + v;
    re-executed: load of y, mul, add, store to y
    set: y.grad, whose element is overwritten here
f.c:14: #pragma omp parallel for
    swept backward: in parallel
f.c:15: for (int i = 1; i < n - 1; i++) {
    re-executed: sub
f.c:17: s[0] = u[i - 1];
    promoted: s stays in a register, no store here
f.c:18: s[1] = u[i + 1];
    promoted: s stays in a register, no store here
f.c:20: z[at[i]] += s[0] - 2 * u[i] + s[1] + x[at[i]] * x[at[i]];
    promoted: s stays in a register, no load here
    re-executed: load of at, load of x
    gathered add to u.grad: each iteration sums what its own element gets from its neighbours
    atomic add to x.grad, or to a copy of each thread's own where it is small: its index is read from 'at', where two iterations may find the same number
E2
"$tool" explain f.c f >got 2>&1
if cmp -s want got; then
    echo "ok explain"
else
    echo "FAIL explain: $(diff want got | head -5 | tr '\n' '|')"
    exit 1
fi
# Lines that end in a carriage return alone are lines, and each remark is shown under its own.
tr '\n' '\r' <f.c >g.c
"$tool" explain g.c f >got 2>&1
sed 's/f\.c/g.c/' want >want_g
if cmp -s want_g got; then
    echo "ok carriage returns"
else
    echo "FAIL carriage returns: $(diff want_g got | head -5 | tr '\n' '|')"
    exit 1
fi
# Guarded stencils are gathered, in one dimension and in two; where the end of a row is the start of
# the next one, two iterations do meet.
cat >s.c <<'E2'
void line(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = i > 0 ? x[i - 1] : x[i];
        if (i < n - 1)
            s += x[i + 1];
        y[i] = s;
    }
}
void plane(int n, int m, const float u[n * m], float v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            v[i * m + j] = (i > 0 ? u[(i - 1) * m + j] : 0) + (j < m - 1 ? u[i * m + j + 1] : 0);
}
void meet(int n, int m, const float u[n * m + 1], float v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            v[i * m + j] = (i > 0 ? u[(i - 1) * m + j] : 0) + u[i * m + j + 1];
}
E2
cat >want <<'E2'
kernel line: 0 saved, 0 atomic
gathered add to x.grad: each iteration sums what its own element gets from its neighbours
kernel plane: 0 saved, 0 atomic
gathered add to u.grad: each iteration sums what its own element gets from its neighbours
kernel meet: 0 saved, 1 atomic
atomic add to u.grad, or to a copy of each thread's own where it is small: its index is computed from values that are not loop variables
E2
for k in line plane meet; do
    "$tool" explain s.c $k 2>&1 | sed -n 's/^ *//; /^kernel/p; /add to/p'
done >got
if cmp -s want got; then
    echo "ok guarded stencils"
else
    echo "FAIL guarded stencils: $(diff want got | head -5 | tr '\n' '|')"
    exit 1
fi
