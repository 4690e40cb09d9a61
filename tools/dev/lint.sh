# `./dev lint`: everything that judges text rather than behaviour. Prints what is wrong; exits 1 when anything is.
set -uo pipefail
result=0
step() {
  local name=$1
  shift
  local output
  if output=$("$@" 2>&1); then
    printf 'lint: %-22s ok\n' "$name"
  else
    printf 'lint: %-22s FAILED\n%s\n' "$name" "$output"
    result=1
  fi
}

thread_safety() {
  # clang reads the annotations of base/include/penstock/base/mutex.h; gcc does not.
  local files
  mapfile -t files < <(git ls-files 'base/*.cc' 'client/http/*.cc' 'client/auth/*.cc' 'client/s3/*.cc' 'client/transfer/*.cc' \
    'client/testing/*.cc' 'emulator/*.cc' | grep -v -e _test.cc -e /fuzz/)
  printf '%s\0' "${files[@]}" | xargs -0 -n 8 -P 2 clang++-14 -std=c++20 -fsyntax-only -Wthread-safety -Werror=thread-safety '-DPENSTOCK_VERSION="lint"' \
    -I. -Ibase/include -Iclient/include -Iemulator/include
}

cpp_style() {
  # What clang-format makes of a file without .clang-format, its LLVM style, shows in these.
  local found
  found=$(git ls-files '*.cc' '*.h' | xargs grep -nE '^} // namespace|^(public|private|protected):|^ *(const )?[A-Za-z_:<>]+ [&*][a-z_]+( = |;$)' | grep -vE ':[0-9]+: *return ')
  [ -z "$found" ] || { printf 'not in the style of .clang-format; format these files with clang-format-14:\n%s\n' "$found"; return 1; }
}

test_names() {
  # pytest imports a test file by its base name: two of one name end the whole collection.
  local twice
  twice=$(git ls-files 'tests/*test_*.py' 'bindings/tests/*test_*.py' | xargs -n 1 basename | sort | uniq -d)
  [ -z "$twice" ] || { printf 'two test files of one name; rename one: %s\n' "$twice"; return 1; }
}

step layers python tools/check_layers.py
step "public headers" python tests/hygiene/public_headers.py base/include client/include emulator/include
step "test names" test_names
step "C++ style" cpp_style
step ruff ruff check .
step "ruff format" ruff format --check .
step mypy mypy
step "thread safety" thread_safety
step shell bash -n dev tools/dev/*.sh .ci/run
exit $result
