#!/bin/sh
# docs/craft.md, "Primitives", is what the tables say: every primitive has its row, and the page is not stale.
set -eu
"$AC_BUILD/craft_reference" "$AC_SOURCE/docs/craft.md" >page.md
cmp -s page.md "$AC_SOURCE/docs/craft.md" || {
  diff "$AC_SOURCE/docs/craft.md" page.md | head -n 20
  echo 'docs/craft.md is stale: ./dev docs writes it anew'
  exit 1
}
grep -q '^| `tl.vexp(dst, src, count=)` |' page.md
