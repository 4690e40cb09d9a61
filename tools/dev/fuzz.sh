# `./dev fuzz [TARGET] [SECONDS]`: libFuzzer on the emulator's parsers, with clang. Findings stay in build/fuzz.
set -euo pipefail
target=${1:-} seconds=${2:-60}
cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 -DPENSTOCK_FUZZ=ON -DPENSTOCK_TESTS=OFF >/dev/null
ninja -C build/fuzz --quiet fuzz_targets
for program in build/fuzz/fuzz/fuzz_*; do
  [ -x "$program" ] || continue
  [ -z "$target" ] || [ "$(basename "$program")" = "fuzz_$target" ] || continue
  corpus=build/fuzz/corpus/$(basename "$program")
  mkdir -p "$corpus"
  echo "fuzz: $(basename "$program") for $seconds s"
  "$program" -max_total_time="$seconds" -rss_limit_mb=2048 -print_final_stats=1 "$corpus"
done
