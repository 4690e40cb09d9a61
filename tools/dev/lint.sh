# `./dev lint`: static checks. Prints the violations; exits with 1 if there are any.
#
#   lint.sh [STEP...]   runs the named steps, or all. tests/hygiene/CMakeLists.txt names those that `./dev test` runs too.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
result=0
wanted=" $* "
step() {
  local name=$1
  shift
  [[ $wanted = "  " || $wanted = *" $name "* ]] || return 0
  local output
  if output=$("$@" 2>&1); then
    printf 'lint: %-22s ok\n' "$name"
  else
    printf 'lint: %-22s FAILED\n%s\n' "$name" "$output"
    result=1
  fi
}

thread_safety() {
  # Only clang checks the annotations of base/include/penstock/base/mutex.h.
  local files includes
  includes=$(python -c 'import pybind11, sysconfig
torch = sysconfig.get_path("platlib") + "/torch/include"
for path in sysconfig.get_path("include"), pybind11.get_include(), torch, torch + "/torch/csrc/api/include":
    print("-isystem", path)') || return 1
  mapfile -t files < <(git ls-files 'base/*.cc' 'client/*.cc' 'emulator/*.cc' 'bindings/core/*.cc' | grep -v -e _test.cc -e /fuzz/)
  # shellcheck disable=SC2086
  printf '%s\0' "${files[@]}" | xargs -0 -n 8 -P 2 clang++-14 -std=c++20 -fsyntax-only -Wthread-safety -Werror=thread-safety '-DPENSTOCK_VERSION="lint"' \
    -I. -Ibase/include -Iclient/include -Iemulator/include $includes
}

cpp_format() { git ls-files -z '*.cc' '*.h' | xargs -0 -n 40 -P 2 clang-format-14 --dry-run -Werror; }

test_names() {
  # pytest imports test files by their base names: two files with one name make the collection fail.
  local twice
  twice=$(git ls-files 'tests/*test_*.py' 'bindings/tests/*test_*.py' | xargs -n 1 basename | sort | uniq -d)
  [ -z "$twice" ] || { printf 'several test files have one name; rename them: %s\n' "$twice"; return 1; }
}

step layers python tools/check_layers.py
step public-headers python tests/hygiene/public_headers.py base/include client/include emulator/include
step test-names test_names
step clang-format cpp_format
step ruff ruff check .
step ruff-format ruff format --check .
step mypy mypy
step thread-safety thread_safety
step shell bash -n dev tools/*/*.sh .ci/run
exit $result
