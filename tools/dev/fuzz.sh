# `./dev fuzz [TARGET] [SECONDS]`: libFuzzer on what the emulator and the client read from strangers, with clang. The seeds are
# in the tree ({emulator,client}/fuzz/corpus); what a run learns stays in build/fuzz/corpus, and so does an input that breaks a property.
set -euo pipefail
target=${1:-} seconds=${2:-60}
declare -A seeds
for folder in {emulator,client}/fuzz/corpus/*/; do seeds[$(basename "$folder")]=$folder; done
names=$(printf '%s\n' "${!seeds[@]}" | sort)
if [ -n "$target" ] && [ -z "${seeds[$target]:-}" ]; then
  echo "fuzz: there is no target '$target'; the targets are" $names >&2
  exit 1
fi
cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 -DPENSTOCK_FUZZ=ON -DPENSTOCK_TESTS=OFF >/dev/null
ninja -C build/fuzz --quiet fuzz_targets
for name in ${target:-$names}; do
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  echo "fuzz: $name for $seconds s"
  "build/fuzz/fuzz/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=2048 -artifact_prefix="build/fuzz/$name-" \
    -print_final_stats=1 "$corpus" "${seeds[$name]}"
done
