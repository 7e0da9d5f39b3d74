#!/bin/sh
# The expert examples that were published with the language, in the git history of AscendOpGenAgent: parsed, formatted, checked and lowered.
# Nothing is fetched and nothing is kept. Skipped without a checkout.
# usage: tests/outside/published.sh CHECKOUT [COMMIT]   a clone (bare ones, too) with commit ab4e346; prints a table, fails if one does not parse
set -eu
here=$(cd "$(dirname "$0")" && pwd)
repo=${1:-${ASCENDOPGENAGENT:-}}
commit=${2:-ab4e346}
[ -n "$repo" ] || exit 77
craft=${ASCENDCRAFT:-$here/../../build/ascendcraft}
ASCENDCRAFT_HOME=${AC_SOURCE:-$here/../..}
export ASCENDCRAFT_HOME
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
folder=skills/dsl_baseline_generation/references/output_example
rc=0
n=0
printf '| example | parses | the checker says | lowers |\n|---|---|---|---|\n'
for f in $(git -C "$repo" ls-tree --name-only "$commit" "$folder/"); do
  name=$(basename "$f" .py)
  git -C "$repo" show "$commit:$f" >"$work/$name.craft"
  n=$((n + 1))
  parses=yes
  "$craft" fmt --quiet - <"$work/$name.craft" >"$work/once.craft" 2>"$work/err" || parses=no
  "$craft" fmt --quiet --check "$work/once.craft" >/dev/null 2>&1 || parses=no
  [ "$parses" = yes ] || rc=1
  lowers=yes
  "$craft" lower "$work/$name.craft" >"$work/out" 2>"$work/err" || lowers=no
  said=$(sed -n "s/^[^ ]*\.craft:\([0-9]*\):[0-9]*: error\[\(AC[0-9]*\)\]: \(.*\)/line \1, \2: \3/p" "$work/err" | head -n 3 | paste -sd ';' | sed 's/;/; /g; s/|/\\|/g')
  warned=$(grep -c ': warning\[' "$work/err") || [ $? -eq 1 ] # none
  printf '| %s | %s | %s%s | %s |\n' "$name" "$parses" "${said:-no errors}" "$([ "$warned" = 0 ] || echo "; $warned warnings")" "$lowers"
done
[ "$n" -gt 0 ] || { echo "no examples in $repo at $commit" >&2; exit 1; }
exit "$rc"
