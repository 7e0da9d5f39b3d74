#!/bin/sh
# ModelNew takes and gives what the user's module does, whatever its class is called and however its arguments are nested.
set -u
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
"$ASCENDCRAFT" gen --no-verify --quiet "$AC_SOURCE/tests/e2e/structure/nested.py" -o "$t/p" || exit 1
new="$t/p/direct/nested_custom.py"
bad=0
has() {
  grep -qF -- "$1" "$new" || { echo "FAIL: ModelNew lacks: $1"; bad=1; }
}
has "class ModelNew(nn.Module):"
has "super(ModelNew, self).__init__()"
has "def forward(self, xs, cfg, *rest,"
has "(xs[0], xs[1], cfg['scale'], rest[0], self.w[0], self.w[1])"
has "return {'y': out[0], 'z': (out[1], None, 2)}"
has "def forward(self): no"
grep -q 'CLASS = "Net"' "$t/p/device_test.py" || { echo "FAIL: device_test.py looks for another class"; bad=1; }
python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$new" || bad=1
[ "$bad" = 0 ] || cat "$new"
exit "$bad"
