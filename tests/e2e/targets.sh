#!/bin/sh
# Every chip of data/chips either gets a project or is refused with exit code 3 and the reason.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
passed=0
failed=0
refused=0
for chip in "$AC_SOURCE"/data/chips/*.json; do
  name=$(basename "$chip" .json)
  "$ASCENDCRAFT" gen "$AC_SOURCE/data/examples/softmax.py" --target "$name" --no-verify -o "$work/$name" >"$work/log" 2>&1
  code=$?
  if grep -q '"data_copy_pad": {"has": false' "$chip"; then
    refused=$((refused + 1))
    [ "$code" -eq 3 ] && grep -q 'DataCopyPad' "$work/log"
  else
    [ "$code" -eq 0 ] && grep -q "\"chip\": \"$name\"" "$work/$name/manifest.json"
  fi
  if [ $? -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $name: exit $code"; cat "$work/log"; fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt "$refused" ] && [ "$refused" -gt 0 ]
