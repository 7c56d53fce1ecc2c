#!/bin/sh
# Tests of the command line, over the built tool: one line `ok NAME` or `FAIL NAME` for each, and
# `N passed, N failed` at the end.
#
#     tests/cli/run.sh [PATH/TO/retrograd]      (default: build/retrograd)
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

cat >f.c <<'EOF'
#include <math.h>
void f(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
EOF
cat >springs.c <<'EOF'
#include <math.h>
typedef struct { float x, y, z; } vec3;
static float dist(vec3 a, vec3 b)
{
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrtf(x * x + y * y + z * z);
}
void energy(int n, int m, const vec3 pos[n], const int ends[m][2], const float rest[m], float k,
            float e[1])
{
    #pragma omp parallel for
    for (int s = 0; s < m; s++) {
        float d = dist(pos[ends[s][0]], pos[ends[s][1]]) - rest[s];
        #pragma omp atomic
        e[0] += 0.5f * k * d * d;
    }
}
EOF
cat >mixed.c <<'EOF'
typedef struct { float w; int times; double bias[2]; } item;
void mixed(int n, float k, const item s[n], float y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = k * s[i].w * s[i].times + (float)s[i].bias[1];
}
void second(int n, double a[n], bool up)
{
    for (int i = 0; i < n; i++)
        a[i] = up ? 2 * a[i] : a[i];
}
EOF
sed -i '1i #include <stdbool.h>' mixed.c

# y = x sin(1e17 s): every bit of the sums shows, and another order gives others.
cat >crossing.c <<'EOF'
#include <math.h>
void crossing(int n, const double x[n], double w[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        w[i] += x[i];
        #pragma omp atomic
        w[n - 1 - i] -= x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = sin(1e15 * w[i]);
        w[i] = 0;
    }
}
void neighbours(int n, const double x[n], double w[n + 1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        w[i] += x[i];
        #pragma omp atomic
        w[i + 1] -= x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = sin(1e15 * w[i]);
        w[i] = 0;
    }
}
void apart(int n, const double x[n], double w[2 * n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        w[i] += x[i];
        #pragma omp atomic
        w[n + i] -= x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = sin(1e15 * w[i]);
        w[i] = 0;
    }
}
EOF
cat >kept.c <<'EOF'
#include <math.h>
void kept(int n, const double w[n], const double x[4], double y[4])
{
    double s[4] = {0, 0, 0, 0};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        s[i % 4] += w[i];
    }
    double sum = 0;
    #pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += w[i];
    for (int k = 0; k < 4; k++)
        y[k] = x[k] * sin(1e17 * (s[k] + sum));
}
EOF

# run_case NAME STATUS args... : runs the tool; output in out, messages in err
run_case() {
    name=$1 want=$2
    shift 2
    "$tool" "$@" >out 2>err </dev/null
    got=$?
    problem=
    [ "$got" = "$want" ] || problem="status $got, wanted $want"
}
# has FILE TEXT: a line of it has the text
has() {
    grep -qF -e "$2" "$1" || problem="${problem:+$problem; }no '$2' in $1"
}
# is TEXT: the output is just that
is() {
    printf '%s\n' "$1" >expected
    cmp -s expected out || problem="${problem:+$problem; }output is not '$1'"
}
done_case() {
    if [ -z "$problem" ]; then
        passed=$((passed + 1))
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        echo "    $problem"
        sed 's/^/    out: /' out | head -5
        sed 's/^/    err: /' err | head -5
    fi
}
# bytes of a little-endian npy file: npy PATH HEADER printf-bytes
npy() {
    header=$2
    length=${#header}
    {
        printf '\223NUMPY\001\000'
        printf "\\$(printf %03o $((length % 256)))\\$(printf %03o $((length / 256)))"
        printf '%s' "$header"
        printf "$3"
    } >"$1"
}

# ---- the command line itself
run_case version 0 --version; has out "retrograd "; done_case
run_case help 0 --help; has out "check the gradients"; done_case
for c in devices run check emit explain bench cache; do
    run_case "help-$c" 0 $c --help; has out "usage: retrograd $c"; has out "Examples:"; done_case
done
run_case no-command 2; has err "usage:"; done_case
run_case unknown-command 2 chekc f.c; has err "did you mean 'check'"; done_case
run_case later-command 2 build f.c; has err "there are devices, run, check"; done_case
run_case unknown-option 2 run f.c f --devcie cpu; has err "did you mean '--device'"; done_case
run_case foreign-option 2 check f.c --grad y=1; has err "takes no option '--grad'"; done_case
run_case option-without-value 2 run f.c f --mode; has err "wants MODE"; done_case
run_case unknown-mode 2 run f.c f --mode adjiont; has err "unknown mode"; done_case
run_case no-file 2 run; has err "wants a kernel file"; done_case
run_case missing-file 2 run none.c f n=1; has err "none.c"; done_case
run_case unknown-kernel 2 run f.c ff n=1 x=1 y=0; has err "did you mean 'f'"; done_case
run_case unknown-device 2 run f.c f n=1 x=1 y=0 --device cup; has err "cup"; done_case
run_case devices 0 devices; has out "cpu "; has out "ref "; done_case
run_case devices-json 0 devices --json; has out '"name": "ref"'; done_case

# ---- run
run_case primal 0 run f.c f n=3 x=iota y=zeros --out y=-; is "y [3] 0 1 4"; done_case
run_case adjoint 0 run f.c f n=3 x=iota y=zeros --mode adjoint --grad y=ones --out x.grad=- \
    --out y.grad=- --out y=-
is "x.grad [3] 0 2 4
y.grad [3] 0 0 0
y [3] 0 1 4"; done_case
run_case adjoint-ref 0 run f.c f n=3 x=iota y=zeros --mode adjoint --grad y=ones --out x.grad=- \
    --device ref
is "x.grad [3] 0 2 4"; done_case
run_case tangent 0 run f.c f n=3 x=iota y=zeros --mode tangent --dot x=1,1,2 --out y.dot=-
is "y.dot [3] 0 2 8"; done_case
run_case hvp 0 run f.c f n=3 x=iota y=zeros --mode hvp --grad y=ones --dot x=ones --out x.hvp=-
is "x.hvp [3] 2 2 2"; done_case
run_case adjoint-of-tangent 0 run f.c f n=3 x=iota y=zeros --mode adjoint-of-tangent --grad y=ones \
    --dot x=ones --out x.hvp=- --out x.grad=-
is "x.hvp [3] 2 2 2
x.grad [3] 0 2 4"; done_case
run_case emit-adjoint-of-tangent 0 emit f.c --mode adjoint-of-tangent; has out "f_hvp"; done_case
run_case shape-in-generator 0 run f.c f x=iota:5 y=zeros --out y=-; is "y [5] 0 1 4 9 16"
done_case
run_case list 0 run f.c f x=0.1,-2 y=zeros --out x=-; is "x [2] 0.1 -2"; done_case
run_case empty 0 run f.c f n=0 x=zeros y=zeros --mode adjoint --out x.grad=-; is "x.grad [0]"
done_case
run_case default-output 0 run f.c f n=9 x=iota y=zeros; is "y [9] 0 1 4 9 16 25 36 49 ..."
done_case
run_case json 0 run f.c f n=2 x=iota y=zeros --json --out y=-; has out '"values": [0, 1]'
done_case
run_case json-nan 0 run f.c f x=nan,inf y=zeros --json --out y=-
has out '"values": ["nan", "inf"]'; done_case
run_case to-file 0 run f.c f n=3 x=iota y=zeros --out y=y.npy; done_case
run_case from-file 0 run f.c f x=y.npy y=zeros --out y=-; is "y [3] 0 1 16"; done_case
run_case rand-seed 0 run f.c f n=2 x=rand:7 y=zeros --out x=-; cp out first
run_case rand-repeats 0 run f.c f x=rand:7:2 y=zeros --out x=- --device ref
cmp -s out first || problem="$problem other numbers"; done_case
run_case struct-list 0 run springs.c energy n=2 m=1 pos=0,0,0,3,4,0 ends=0,1 rest=1 k=2 e=0 \
    --mode adjoint --grad e=1 --out pos.grad=- --out k.grad=- --out e=- --out rest.grad=-
is "pos.grad [2,3] -4.8 -6.4 0 4.8 6.4 0
k.grad [1] 8
e [1] 16
rest.grad [1] -8"; done_case
npy pos.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" \
    '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\100\100\0\0\200\100\0\0\0\0'
run_case struct-file 0 run springs.c energy pos=pos.npy ends=iota:1x2 rest=full:1 k=2 e=0 --out e=-
is "e [1] 16"; done_case
run_case mixed-generator 0 run mixed.c mixed n=2 k=2 s=full:3 y=zeros --out y=-; is "y [2] 21 21"
done_case
run_case mixed-gradient 0 run mixed.c mixed n=1 k=2 s=full:3 y=zeros --mode adjoint --grad y=1 \
    --out s.grad=-
is "s.grad [1,4] 6 0 0 1"; done_case
run_case mixed-file 2 run mixed.c mixed k=2 s=pos.npy y=zeros; has err "differ in type"; done_case
run_case define 0 run f.c f -Dunused=1 -I . n=1 x=3 y=0 --out y=-; is "y [1] 9"; done_case
run_case missing-values 2 run springs.c energy
has err "missing value for 'k' (float): give k=VALUE"
has err "missing value for 'pos' (vec3 [n])"; has err "missing value for 'm'"; done_case
run_case unknown-parameter 2 run f.c f n=1 x=1 y=0 z=3; has err "no parameter 'z'"; done_case
run_case not-integer 2 run f.c f n=1.5 x=1 y=0; has err "integer"; done_case
run_case out-of-range 2 run f.c f n=3000000000 x=1 y=0; has err "from -2147483648"; done_case
run_case negative-extent 2 run f.c f n=-1 x=zeros y=zeros; has err "negative"; done_case
run_case shape-mismatch 2 run f.c f n=3 x=ones:4 y=zeros; has err "n is 3"; done_case
run_case extents-differ 2 run f.c f x=ones:4 y=zeros:5; has err "[5]"; done_case
run_case number-for-array 2 run f.c f n=3 x=1 y=zeros; has err "full:1"; done_case
run_case bad-value 2 run f.c f n=3 x=onse y=zeros; has err "did you mean 'ones'"; done_case
run_case several-errors 2 run f.c f n=x x=onse y=zeros:q; has err "onse"; has err "zeros:q"
done_case
run_case out-of-scalar 2 run mixed.c mixed n=1 k=1 s=zeros y=zeros --out k=-
has err "by value"; done_case
run_case grad-of-int 2 run f.c f n=1 x=1 y=0 --mode adjoint --grad n=1; has err "no gradient"
done_case
run_case grad-in-primal 2 run f.c f n=1 x=1 y=0 --out x.grad=-; has err "--mode adjoint"; done_case
run_case unwritable 2 run f.c f n=1 x=1 y=0 --out y=/no/such/y.npy; has err "/no/such/y.npy"
done_case
run_case bool-scalar 0 run mixed.c second n=2 a=1,2 up=true --out a=-; is "a [2] 2 4"; done_case

# ---- .npy files that are refused
npy cut.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" '\0\0\0\0'
run_case npy-cut 2 run f.c f x=cut.npy y=zeros; has err "cut short"; done_case
npy fortran.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }" '\0\0\0\0'
run_case npy-fortran 2 run f.c f x=fortran.npy y=zeros; has err "Fortran"; done_case
npy big.npy "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }" '\0\0\0\0'
run_case npy-big-endian 2 run f.c f x=big.npy y=zeros; has err "big-endian"; done_case
npy double.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" '\0\0\0\0\0\0\0\0'
run_case npy-type 2 run f.c f x=double.npy y=zeros; has err "astype('float32')"; done_case
npy huge.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }" ''
run_case npy-huge 2 run f.c f x=huge.npy y=zeros; has err "too large"; done_case
echo junk >junk.npy
run_case npy-junk 2 run f.c f x=junk.npy y=zeros; has err "no .npy file"; done_case
run_case npy-missing 2 run f.c f x=absent.npy y=zeros; has err "No such file"; done_case

# ---- check
run_case check 0 check f.c; has out "f x  nonzero 100%  adjoint-tangent"; has out ", 0 failed"
done_case
run_case check-springs 0 check springs.c; has out "energy pos"; has out ", 0 failed"; done_case
run_case check-ref 0 check springs.c energy --device ref --seed 5; has out ", 0 failed"; done_case
run_case check-mixed 0 check mixed.c; has out "second a"; has out ", 0 failed"; done_case
run_case check-given 0 check f.c f x=1,2,3; has out ", 0 failed"; done_case
run_case check-second 0 check f.c --second-order; has out "hvp-difference"; has out "orders"
has out ", 0 failed"; done_case
cat >wrong_adjoint.c <<'E2'
static float f(float x) { return x * x * x; }
static void f_b(float x, float *x_b, float r_b) { *x_b += 2 * x * x * r_b; }
#pragma retrograd adjoint(f) = f_b
void g(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = f(x[i]);
}
E2
run_case check-second-wrong 1 check wrong_adjoint.c --second-order
has out "hvp-difference: difference of gradients"; has out "orders: tangent of adjoint"; done_case
run_case check-second-json 0 check f.c --second-order --json; has out '"hvp_difference"'; done_case
run_case check-json 0 check f.c --json; has out '"failed": 0'; has out '"adjoint_difference"'
done_case
cat >stop.c <<'EOF'
#ifndef __RETROGRAD__
#define rg_stop(x) (x)
#endif
void s(int n, const float x[n], float y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = rg_stop(x[i]) * x[i];
}
EOF
run_case check-stop 0 check stop.c; has out ", 0 failed"; done_case
cat >tag.c <<'EOF'
#include <tgmath.h>
struct point { _Float16 x; float y; };
void tags(int n, struct point c, const struct point p[n], double y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = sin((float)p[i].x * c.y) + fabs((float)c.x * p[i].y);
}
EOF
run_case check-struct-tag 0 check tag.c; has out "tags p"; has out ", 0 failed"; done_case
cat >permute.c <<'EOF'
void permute(int n, const int p[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[p[i]] = x[i] * x[i];
}
EOF
run_case check-permutation 0 check permute.c; has out ", 0 failed"; done_case
run_case check-race 1 check permute.c permute p=0,1,0; has out "race"; done_case
run_case check-seed 0 check f.c --seed 1; cp out first
run_case check-seed-repeats 0 check f.c --seed 1
cmp -s out first || problem="$problem other numbers"; done_case
cat >kink.c <<'EOF'
#include <math.h>
void k(int n, const float x[n], float y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 3 * x[i] : x[i];
}
EOF
run_case check-kink 0 check kink.c k x=0,1,-1; has out "undecided: a kink"; done_case
cat >wrong.c <<'EOF'
void g_rule(int n, const float x[n], float x_b[n], float y[n], float y_b[n]);
void fault(int n, const float x[n], float y[n])
{
    for (int i = 0; i <= n + 20; i++)
        y[i] = x[i];
}
EOF
sed -i 1d wrong.c
run_case check-fault 1 check wrong.c; has out "FAIL"; has out "1 failed"; done_case
run_case check-bad-name 2 check f.c q=1; has err "q"; done_case
CC=/no/such/compiler
export CC
run_case check-no-compiler 0 check f.c --device ref; has out "skipped"; done_case
unset CC
printf 'void broken(int n, float x[n]) { x[0] = ; }\n' >broken.c
run_case check-source-error 2 check broken.c; has err "broken.c:1:"; done_case

# ---- emit, explain, bench, cache
run_case emit-c 0 emit springs.c --kernel energy --target c; has out "energy_adjoint("; cp out e.c
cc -std=c99 -w -c e.c -o e.o 2>err || problem="$problem does not compile"; done_case
run_case emit-several 0 emit mixed.c; has out "mixed_adjoint("; has out "second_adjoint("; cp out e.c
cc -std=c99 -Wall -Werror -c e.c -o e.o 2>err || problem="$problem does not compile"
[ "$(grep -c 'struct item {' e.c)" = 1 ] || problem="$problem the struct is not there once"; done_case
cat >capture.c <<'E2'
void g(int n, const float x[n], float y[n], int c[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        #pragma omp atomic capture
        k = c[0]++;
        y[k] = x[i] * x[i];
    }
}
E2
run_case emit-capture 2 emit capture.c; has err "capture.c:7:"; has err "only a recorded launch keeps"
has err "way out: run it through the library"; done_case
run_case emit-capture-tangent 2 emit capture.c --mode hvp; has err "capture.c:7:"; has err "way out"
done_case
run_case emit-ir 0 emit f.c --target ir --mode primal; has out "f"; done_case
run_case emit-cpu 0 emit f.c --target cpu; has out "f"; done_case
run_case emit-file 0 emit f.c -o emitted.c
[ -s emitted.c ] || problem="$problem no file"; done_case
run_case emit-active 0 emit springs.c --active pos; has out "pos_b"
grep -q 'rest_b' out && problem="$problem rest is active"; done_case
run_case emit-later-target 2 emit f.c --target cuda; has err "not in this version"; done_case
run_case emit-unknown-target 2 emit f.c --target irr; has err "did you mean 'ir'"; done_case
run_case explain 0 explain springs.c energy; has out "springs.c"; done_case
run_case explain-kept 0 explain kept.c
has out "kept: the result of this reduction, 8 bytes for each time it runs"
has out "kept: what this loop's atomic sums leave in the array, 8 bytes for each element"; done_case
# Two updates that meet each other, though neither meets itself: their order shows in the sums.
run_case explain-kept-crossing 0 explain crossing.c crossing
has out "kept: what this loop's atomic sums leave in the array"; done_case
run_case explain-kept-stencil 0 explain crossing.c neighbours
has out "kept: what this loop's atomic sums leave in the array"; done_case
run_case explain-kept-apart 0 explain crossing.c apart
grep -q "sums leave" out && problem="$problem keeps what no order changes"; done_case
run_case emit-readme 0 emit "$here/../../examples/springs.c" --kernel energy
sed -n '/^void energy_adjoint(/,$p' out >emitted
sed -n '/^void energy_adjoint(/,/^}/p' "$here/../../README.md" >shown
cmp -s emitted shown || problem="$problem the README shows another adjoint"; done_case
run_case kept-exact 0 run kept.c kept n=100000 w=rand:1 x=ones y=zeros --mode adjoint --grad y=ones \
    --threads 4 --out y=- --out x.grad=-
[ "$(sed -n 's/^y //p' out)" = "$(sed -n 's/^x.grad //p' out)" ] ||
    problem="$problem the adjoint has other sums than the launch"; done_case
RETROGRAD_DEBUG=alone
export RETROGRAD_DEBUG
run_case kept-nothing 0 run kept.c kept n=3 w=zeros x=1,2,3,4 y=zeros --mode adjoint --grad y=ones \
    --out x.grad=- --out w.grad=-
has out "x.grad [4] 0 0 0 0"; has out "w.grad [3] 1.1e+18 1.2e+18 1.3e+18"; done_case
unset RETROGRAD_DEBUG
run_case bench 0 bench f.c f n=1000 x=rand y=zeros --repeat 3; has out "ratio"; done_case
run_case bench-json 0 bench f.c f n=1000 x=rand y=zeros --repeat 2 --json
has out '"adjoint_over_primal"'; done_case
run_case cache-info 0 cache info; has out "$work/cache"; done_case
run_case cache-clear 0 cache clear; has out "removed"; done_case
run_case cache-empty 0 cache info --json; has out '"entries": 0'; done_case
run_case cache-unknown 2 cache claer; has err "did you mean 'clear'"; done_case

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
