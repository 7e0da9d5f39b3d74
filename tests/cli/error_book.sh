#!/bin/sh
# The error book's pages of the lowering and of plain C: each bad program gets its code and no other error from `ascendcraft lower`, with the
# options that stand behind "bad" at its fence; each good one passes. A page without a bad program asks to be told of one.
set -eu
craft=$ASCENDCRAFT
failed=0
# the program of a page: $1 the page, $2 bad or good
program() {
  awk -v which="$2" '$0 ~ "^```python " which "( |$)" {on = 1; next} /^```/ {on = 0} on' "$1"
}
for page in "$AC_SOURCE"/docs/errors/AC06*.md; do
  code=$(basename "$page" .md)
  program "$page" good >good.craft
  "$craft" lower good.craft >out 2>err || {
    echo "$code: the good program is refused"
    cat err
    failed=1
  }
  program "$page" bad >bad.craft
  if [ ! -s bad.craft ]; then
    grep -q 'please report it' "$page" || {
      echo "$code: no bad program"
      failed=1
    }
    continue
  fi
  options=$(sed -n 's/^```python bad \(.*\)/\1/p' "$page")
  rc=0
  # shellcheck disable=SC2086 # words
  "$craft" lower bad.craft $options >out 2>err || rc=$?
  if [ $rc = 0 ] || ! grep -q "error\[$code\]" err || grep 'error\[' err | grep -qv "error\[$code\]"; then
    echo "$code: the bad program gives (exit $rc)"
    cat err
    failed=1
  fi
done
exit $failed
