# `./dev fuzz`: libFuzzer on the inputs that the emulator and the client read from strangers. Needs clang.
#
#   ./dev fuzz [TARGET] [SECONDS]      every target, or one, for 60 s or SECONDS, with AddressSanitizer and UndefinedBehaviorSanitizer
#   ./dev fuzz --campaign [TARGET...]  without sanitizers, for speed: at least 10 million executions of each target, and until the
#                                      last third of them covers no new edge; PENSTOCK_FUZZ_EXECUTIONS sets another number
#   ./dev fuzz --minimise [TARGET...]  adds to the seeds in the tree the fewest learned inputs that cover the same edges
#
# Seeds are in {emulator,client}/fuzz/corpus, dictionaries in {emulator,client}/fuzz/dictionaries. Learned inputs and logs stay in
# build/fuzz-campaign, and so does an input that breaks a property: add it to the seeds with the mend.
set -euo pipefail
work=build/fuzz-campaign
declare -A sides
for folder in {emulator,client}/fuzz/corpus/*/; do sides[$(basename "$folder")]=${folder%%/*}; done
names=$(printf '%s\n' "${!sides[@]}" | sort)

check_names() {
  local name
  for name in "$@"; do
    [ -n "${sides[$name]:-}" ] || { echo "fuzz: there is no target '$name'; the targets are" $names >&2; exit 1; }
  done
}

# $1: the build folder. $2: ON or OFF, the sanitizers. Then the targets.
build_fuzzers() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 -DPENSTOCK_FUZZ=ON \
    -DPENSTOCK_FUZZ_SANITIZE="$2" -DPENSTOCK_TESTS=OFF >/dev/null
  ninja -C "$1" --quiet $(printf 'fuzz_%s ' "${@:3}")
}

# The options of the target $1 that every run of it has.
options_of() {
  local dictionary=${sides[$1]}/fuzz/dictionaries/$1
  printf '%s\n' -rss_limit_mb=2048 "-artifact_prefix=$work/$1-" -print_final_stats=1
  [ ! -f "$dictionary" ] || echo "-dict=$dictionary"
}

run_for() {
  local target=$1 seconds=$2 name options
  build_fuzzers build/fuzz ON ${target:-$names}
  for name in ${target:-$names}; do
    mkdir -p "$work/corpus/$name"
    mapfile -t options < <(options_of "$name")
    echo "fuzz: $name for $seconds s"
    "build/fuzz/fuzz/fuzz_$name" "${options[@]}" -max_total_time="$seconds" "$work/corpus/$name" "${sides[$name]}/fuzz/corpus/$name"
  done
}

case ${1:-} in
  --campaign)
    shift
    check_names "$@"
    build_fuzzers build/fuzz-fast OFF ${*:-$names}
    exec python3 tools/fuzz_campaign.py --build build/fuzz-fast --work "$work" --executions "${PENSTOCK_FUZZ_EXECUTIONS:-10000000}" "$@"
    ;;
  --minimise)
    shift
    check_names "$@"
    build_fuzzers build/fuzz-fast OFF ${*:-$names}
    for name in ${*:-$names}; do
      mkdir -p "$work/corpus/$name"
      mapfile -t options < <(options_of "$name")
      "build/fuzz-fast/fuzz/fuzz_$name" "${options[@]}" -merge=1 -use_counters=0 "${sides[$name]}/fuzz/corpus/$name" "$work/corpus/$name"
    done
    ;;
  -*)
    echo "fuzz: there is no option '$1'; it takes [TARGET] [SECONDS], --campaign [TARGET...] or --minimise [TARGET...]" >&2
    exit 1
    ;;
  *)
    check_names ${1:+"$1"}
    run_for "${1:-}" "${2:-60}"
    ;;
esac
