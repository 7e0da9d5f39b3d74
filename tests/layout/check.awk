# Checks the walls between modules. Input: CMakeLists.txt first (the module table), then every C file and header below src/
# by its path from the root. Prints one line a fault.
function fault(what) {
  printf "%s:%d: %s\n", FILENAME, FNR, what
  faults++
}
# may m use d? through the table, at any depth
function may(m, d, i, n, list) {
  if (m == d) return 1
  n = split(deps[m], list, " ")
  for (i = 1; i <= n; i++)
    if ((list[i] in deps) && may(list[i], d)) return 1
  return 0
}
FILENAME == "CMakeLists.txt" {
  if (match($0, /^ac_module\([a-z_]+ DEPS [^)]*\)/)) {
    line = substr($0, RSTART + 10, RLENGTH - 11)
    name = line
    sub(/ .*/, "", name)
    sub(/^[a-z_]+ DEPS /, "", line)
    deps[name] = line
    order[name] = ++count
    names[count] = name
    n = split(line, list, " ")
    for (i = 1; i <= n; i++)
      if (list[i] ~ /^[a-z]+$/ && list[i] != "m" && list[i] != "dl" && !(list[i] in deps))
        fault(name " uses " list[i] ", which does not stand above it in the table")
  }
  next
}
FNR == 1 {
  files++
  module = FILENAME
  sub(/^src\//, "", module)
  if (module !~ /\//) module = "" # src/ascendcraft.h: the map
  sub(/\/.*/, "", module)
  if (module != "" && !(module in deps)) fault("src/" module " is not in the module table")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
  inc = $0
  sub(/^[^"]*"/, "", inc)
  sub(/".*/, "", inc)
  # the other half of the simulator's interface, which emitted code includes
  if (module == "sim" && inc ~ /^\.\.\/\.\.\/sim\/include\/acsim\/[a-z_]+\.h$/) next
  if (inc ~ /\.\./) fault("#include \"" inc "\" climbs out of its folder; name it from src/")
  if (module == "" || inc !~ /\//) next
  other = inc
  sub(/\/.*/, "", other)
  if (!(other in deps) || other == module) next
  if (!may(module, other)) fault(module " must not use " other " (its row in CMakeLists.txt allows: " deps[module] ")")
  if (inc ~ /internal/) fault("#include \"" inc "\" is internal to " other)
}
/"(tests|bench|tools)\/[a-z]/ { fault("source files must not name what lies outside src: " $0) }
END {
  if (count < 5) { print "CMakeLists.txt: no module table was found"; faults++ }
  if (!files) { print "src: no file was checked"; faults++ }
  exit faults ? 1 : 0
}
