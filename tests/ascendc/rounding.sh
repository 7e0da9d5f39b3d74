#!/bin/sh
# Integer helpers of emitted kernels against Python's floor division, negative arguments included.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cat >"$work/r.craft" <<'EOF'
@ascend_kernel
def r_kernel(x_ptr: tl.tensor[tl.float32], y_ptr: tl.tensor[tl.float32], n, a):
    x = tl.alloc_ub(256, dtype=tl.float32)
    y = tl.alloc_ub(256, dtype=tl.float32)
    first = tl.align_up(a, 8) + tl.align_down(a, 8) + tl.cdiv(a, 8) + a // 8 + a % 8
    for i in range(0, n, 256):
        count = min(256, n - i)
        with tl.copyin():
            tl.load(x_ptr + i + tl.arange(0, count), x)
        with tl.compute():
            tl.vadd_scalar(y, x, float(first))
        with tl.copyout():
            tl.store(y_ptr + i + tl.arange(0, count), y)


def r_host(x: tl.tensor[tl.float32], y: tl.tensor[tl.float32]):
    n = x.numel()
    r_kernel[1](x, y, n, n - 64)
EOF
"$ASCENDCRAFT" lower "$work/r.craft" >"$work/kernel.cpp"
{
  printf '#include <cstdint>\n#include <cstdio>\n#include <initializer_list>\n#define __aicore__\n'
  awk '/inline int64_t Ac/ {on = 1} on {print} /^}/ {on = 0}' "$work/kernel.cpp"
  cat <<'EOF'
int main()
{
    for (int64_t a = -20; a <= 20; a++)
        for (int64_t b : {1, 3, 8}) {
            printf("%lld %lld %lld %lld %lld %lld %lld\n", (long long)a, (long long)b, (long long)AcAlignUp(a, b),
                   (long long)AcAlignDown(a, b), (long long)AcCeilDiv(a, b), (long long)AcFloorDiv(a, b), (long long)AcFloorMod(a, b));
        }
}
EOF
} >"$work/t.cpp"
g++ -std=c++17 "$work/t.cpp" -o "$work/t"
"$work/t" >"$work/got"
/usr/bin/python3 - >"$work/want" <<'EOF'
for a in range(-20, 21):
    for b in (1, 3, 8):
        print(a, b, -(-a // b) * b, a // b * b, -(-a // b), a // b, a % b)
EOF
diff "$work/want" "$work/got"
