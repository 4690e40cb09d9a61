# `./dev fuzz`: runs libFuzzer on the untrusted inputs of the emulator and the client. Needs clang.
#
#   ./dev fuzz [TARGET] [SECONDS]      one target or all, for 60 s or SECONDS each, with AddressSanitizer and UndefinedBehaviorSanitizer
#   ./dev fuzz --campaign [TARGET...]  without sanitizers, for speed: at least 10 million executions of each target, until the last
#                                      third of them covers no new edge; PENSTOCK_FUZZ_EXECUTIONS sets another number
#   ./dev fuzz --minimise [TARGET...]  adds a minimal set of learned inputs that covers the same edges to the seeds in the tree
#
# Seeds are in {emulator,client}/fuzz/corpus, dictionaries in {emulator,client}/fuzz/dictionaries. build/fuzz-campaign has the learned
# inputs, the logs, and inputs that violate a property: add such an input to the seeds together with the fix.
set -euo pipefail
work=build/fuzz-campaign
declare -A sides
for folder in {emulator,client}/fuzz/corpus/*/; do sides[$(basename "$folder")]=${folder%%/*}; done
names=$(printf '%s\n' "${!sides[@]}" | sort)

check_names() {
  local name
  for name in "$@"; do
    [ -n "${sides[$name]:-}" ] || { echo "fuzz: unknown target '$name'; the targets are" $names >&2; exit 1; }
  done
}

# build_fuzzers FOLDER ON|OFF TARGET...: builds the targets in FOLDER, with or without sanitizers.
build_fuzzers() {
  cmake -S . -B "$1" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 -DPENSTOCK_FUZZ=ON \
    -DPENSTOCK_FUZZ_SANITIZE="$2" -DPENSTOCK_TESTS=OFF >/dev/null
  ninja -C "$1" --quiet $(printf 'fuzz_%s ' "${@:3}")
}

# options_of TARGET: prints the options that every run of the target has.
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
    echo "fuzz: unknown option '$1'; use [TARGET] [SECONDS], --campaign [TARGET...] or --minimise [TARGET...]" >&2
    exit 1
    ;;
  *)
    check_names ${1:+"$1"}
    run_for "${1:-}" "${2:-60}"
    ;;
esac
