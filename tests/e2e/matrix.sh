#!/bin/sh
# Activations, the fused chain, the Adam step and softmax over each axis, in several dtypes: one generic project a module and dtype is
# generated and must verify on its ladder of shapes, and at each of the shapes below that its rank allows.
# A sample by default; AC_E2E_FULL=1 (./dev ci) takes all of them in three dtypes. AC_E2E_DTYPES and AC_E2E_MODULES narrow it.
set -u
ops=$AC_SOURCE/tests/operators/activation
own=$AC_SOURCE/tests/e2e/modules
if [ -n "${AC_E2E_FULL:-}" ]; then
  dtypes=${AC_E2E_DTYPES:-float32 float16 bfloat16}
  elements=100000
  modules=${AC_E2E_MODULES:-$(ls "$ops"/*.py "$own"/*.py "$AC_SOURCE"/tests/operators/mhc/*.py)}
else
  dtypes=${AC_E2E_DTYPES:-float32 bfloat16}
  elements=20000
  modules=${AC_E2E_MODULES:-$ops/gelu.py $ops/softmax.py $own/fused_chain.py $own/adam_step.py $own/log_softmax_middle.py}
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
passed=0
failed=0

report() { # status, what
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$2"
    sed 's/^/    /' "$work/log" | tail -n 20
  fi
}

# The --shape options of one shape for a module; empty: its rank does not allow it.
shapes_of() { # module, shape
  case $1 in
    fused_chain)
      rows=${2%%,*}
      cols=${2#*,}
      case $2 in *,*,* | '' | "$rows") return ;; esac
      printf -- '--shape x=%s --shape bias=%s --shape scale=%s,1' "$2" "$cols" "$rows" ;;
    adam_step) printf -- '--shape param=%s --shape grad=%s --shape m=%s --shape v=%s' "$2" "$2" "$2" "$2" ;;
    mhc_*) ;; # its ladder alone, which is long enough
    max_places) case $2 in *,*,*) ;; *,*) printf -- '--shape x=%s' "$2" ;; esac ;;
    softmax | log_softmax | *_middle) case $2 in *,*) printf -- '--shape x=%s' "$2" ;; esac ;;
    *) printf -- '--shape x=%s' "$2" ;;
  esac
}

for path in $modules; do
  name=$(basename "$path" .py)
  case $path in "$ops"/*) first='--shape x=16,16384' ;; *) first= ;; esac
  for dtype in $dtypes; do
    # shellcheck disable=SC2086
    "$ASCENDCRAFT" gen "$path" $first --dtype "$dtype" --max-elements "$elements" -o "$work/p" --force >"$work/log" 2>&1
    report $? "$name $dtype"
    for shape in 16,16384 7,1003 1,1 1,13243 513 3,5,7,11 0,8 ''; do
      options=$(shapes_of "$name" "$shape")
      [ -n "$options" ] || continue
      # shellcheck disable=SC2086
      "$ASCENDCRAFT" verify "$work/p" --only --format msopgen $options >"$work/log" 2>&1
      report $? "$name $dtype at ($shape)"
    done
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
