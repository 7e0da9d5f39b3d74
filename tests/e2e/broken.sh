#!/bin/sh
# A project that verifies is broken by hand in five ways; each must fail, with a message that points at the fault.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
kernel=msopgen/op_kernel/leaky_relu_custom.cpp
passed=0
failed=0

"$ASCENDCRAFT" gen "$AC_SOURCE/tests/operators/activation/leaky_relu.py" --shape x=7,1003 --max-elements 20000 -o "$work/good" \
  >"$work/log" 2>&1 || { cat "$work/log"; echo "0 passed, 1 failed"; exit 1; }

# what is broken, sed script, text that the report must hold
broken() {
  rm -rf "$work/bad"
  cp -r "$work/good" "$work/bad"
  sed -i "$2" "$work/bad/$kernel"
  cmp -s "$work/good/$kernel" "$work/bad/$kernel" && { echo "FAIL $1: the edit changed nothing"; failed=$((failed + 1)); return; }
  "$ASCENDCRAFT" verify "$work/bad" --format msopgen --max-elements 20000 >"$work/log" 2>&1
  code=$?
  if [ "$code" -eq 1 ] && grep -q -e "$3" "$work/log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $1: exit $code, wanted 1 and '$3' in:"
    head -n 30 "$work/log"
  fi
}

broken 'the tail is dropped' '/CopyOut1(int64_t/,/^    }/s/if (count > 0)/if (count >= tile)/' 'elements [0-9]*\.\.[0-9]* of out are never written'
broken 'a store is skipped' '/DataCopyPad(outGm/d' 'never written'
broken 'an offset is shifted by one element' 's/outGm\[i\]/outGm[i + 1]/' 'leaky_relu_custom.cpp:[0-9]*'
broken 'UB is overrun' 's/InitBuffer(outQueue, \(.*\), AcBytes(tile, 4, 32))/InitBuffer(outQueue, \1, AcBytes(tile * 64, 4, 32))/' 'UB'
broken 'the output queue is an input queue' 's/TPosition::VECOUT/TPosition::VECIN/' 'the event V_MTE3 is missing'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -eq 5 ]
