#!/bin/sh
# Tests of `emit --target spirv|msl` and of `slots`: one line `ok NAME` or `FAIL NAME` for each.
#
#     tests/cli/gpu.sh [PATH/TO/retrograd]      (default: build/retrograd)
here=$(cd "$(dirname "$0")" && pwd)
tool=${1:-${RETROGRAD:-$here/../../build/retrograd}}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
RETROGRAD_CACHE=$work/cache
export RETROGRAD_CACHE
cd "$work" || exit 2
passed=0
failed=0

cat >f.c <<'E2'
void f(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
E2
cat >two.c <<'E2'
void one(int n, float x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2 * x[i];
}
void two(int n, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 3 * x[i];
}
E2

ok() { passed=$((passed + 1)); echo "ok $1"; }
bad() { failed=$((failed + 1)); echo "FAIL $1: $2"; }
# run_case NAME STATUS args... : runs the tool; output in out, messages in err
run_case() {
    name=$1 want=$2
    shift 2
    "$tool" "$@" >out 2>err
    got=$?
    if [ $got -ne "$want" ]; then
        bad "$name" "status $got, wanted $want: $(head -c 200 err)"
        return 1
    fi
}
# has NAME FILE PATTERN
has() {
    if grep -q -- "$3" "$2"; then ok "$1"; else bad "$1" "no '$3' in $2: $(head -c 200 "$2")"; fi
}
valid() {
    if ! command -v spirv-val >/dev/null 2>&1; then return; fi
    if spirv-val --target-env vulkan1.1 "$2" >val 2>&1; then ok "$1"; else bad "$1" "$(cat val)"; fi
}

for mode in primal adjoint tangent; do
    for form in address offset; do
        run_case "spirv $mode $form" 0 emit f.c --target spirv --mode $mode --addressing $form \
            -o f.spv && valid "spirv $mode $form" f.spv
    done
done
run_case "spirv to a pipe" 0 emit f.c --target spirv && valid "spirv to a pipe" out
run_case "spirv of two kernels" 2 emit two.c --target spirv -o two.spv &&
    has "spirv of two kernels" err -- --kernel
run_case "spirv of one of two" 0 emit two.c --target spirv --kernel two -o two.spv &&
    valid "spirv of one of two" two.spv
run_case "bad addressing" 2 emit f.c --target spirv --addressing both &&
    has "bad addressing" err "'address' or 'offset'"

if "$tool" slots f.c >out 2>err; then
    has "slots primal" out '^f primal slots=1 arrays=2$'
    has "slots adjoint" out '^f adjoint slots=1 arrays=2$'
    has "slots tangent" out '^f tangent slots=1 arrays=2$'
    run_case "slots offset" 0 slots f.c f --mode adjoint --addressing offset &&
        has "slots offset" out '^f adjoint slots=[2-5] arrays=2$'
    run_case "msl" 0 emit f.c --target msl && has "msl" out '\[\[buffer(0)\]\]'
    run_case "msl of doubles" 2 emit two.c --target msl --kernel two &&
        has "msl of doubles" err 'two.c:[0-9]*:[0-9]*: error'
    run_case "slots of an unknown kernel" 2 slots f.c g && has "slots of an unknown kernel" err "'g'"
    RETROGRAD_SPIRV_CROSS=/nowhere/lib.so
    export RETROGRAD_SPIRV_CROSS
    run_case "no SPIRV-Cross" 2 slots f.c && has "no SPIRV-Cross" err 'SPIRV-Cross'
elif grep -q 'libspirv-cross-c-shared' err; then
    echo "skip slots and msl: $(head -c 200 err)"
else
    bad slots "$(head -c 300 err)"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
