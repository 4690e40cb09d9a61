# `./dev test`: runs every test of the repository and prints the counts. Sourced by ./dev.

failures=build/failures.txt

# count_junit FILE: adds the numbers of a JUnit file to the totals, and what its failed tests say to the list that ends the run.
count_junit() {
  local counts
  [ -s "$1" ] || { failed=$((failed + 1)); echo "no results in $1" >>"$failures"; return; }
  counts=$(python - "$1" "$failures" <<'EOF'
import pathlib
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
suites = [root] if root.tag == "testsuite" else list(root)
total = sum(int(s.get("tests", 0)) for s in suites)
bad = sum(int(s.get("failures", 0)) + int(s.get("errors", 0)) for s in suites)
off = sum(int(s.get("skipped", 0)) + int(s.get("disabled", 0)) for s in suites)
if root.tag == "testsuites":  # Node.js writes tests outside of suites, and a file without a matching test as one.
    cases = [case for case in root.findall("testcase") if not case.get("name", "").endswith(".test.ts")]
    total += len(cases)
    bad += sum(case.find("failure") is not None for case in cases)
    off += sum(case.find("skipped") is not None for case in cases)
with pathlib.Path(sys.argv[2]).open("a") as failures:
    for case in root.iter("testcase"):
        for bad_end in [*case.findall("failure"), *case.findall("error")]:
            said = bad_end.text or case.findtext("system-out") or bad_end.get("message") or ""
            print("failed:", case.get("classname", ""), case.get("name"), file=failures)
            print(*(f"    {line[:300]}" for line in said.splitlines()[-40:]), sep="\n", file=failures)
print(total - bad - off, bad, off)
EOF
  )
  read -r p f s <<<"$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# run_ctest PATTERN TIMEOUT: runs the C++ tests whose names match, or all if PATTERN is empty, each for at most TIMEOUT seconds.
# Without a pattern, no tests is a failure.
run_ctest() {
  local none=error
  [ -z "$1" ] || none=ignore
  rm -f "$build_dir/ctest.xml"
  ctest --test-dir "$build_dir" -j "${PENSTOCK_JOBS:-2}" --timeout "$2" --output-on-failure --no-tests=$none \
    --output-junit ctest.xml ${1:+-R "$1"} \
    >"$build_dir/ctest.log" 2>&1 || { grep -Ev ' (Start|Passed) ' "$build_dir/ctest.log" | tail -n 200; result=1; }
  [ $none = ignore ] && [ ! -s "$build_dir/ctest.xml" ] || count_junit "$build_dir/ctest.xml"
}

# run_suite NAME FOLDER PATTERN: runs the Python tests of the folder whose names match, or all if PATTERN is empty.
# Without a pattern, no tests is a failure.
run_suite() {
  local status=0
  python -m pytest -q --junitxml="$build_dir/pytest-$1.xml" -o junit_family=xunit1 ${3:+-k "$3"} "$2" || status=$?
  [ $status -ne 5 ] || [ -z "$3" ] || status=0  # 5: no tests
  return $status
}

# run_pytest PATTERN LONG: runs both suites at a time, because many tests wait more than they compute. The long tests measure
# latencies, so with LONG the suites run one after the other.
run_pytest() {
  local log=$build_dir/pytest-tests.log beside
  rm -f "$build_dir"/pytest-*.xml
  if [ -z "$2" ]; then
    set -m  # otherwise the tests of interrupts would inherit an ignored SIGINT
    run_suite tests tests "$1" >"$log" 2>&1 &
    beside=$!
    set +m
    # shellcheck disable=SC2064
    trap "kill -INT -- -$beside 2>/dev/null" EXIT
  fi
  run_suite bindings bindings/tests "$1" || result=1
  if [ -z "$2" ]; then
    wait "$beside" || result=1
    trap - EXIT
    cat "$log"
  else
    run_suite tests tests "$1" || result=1
  fi
  count_junit "$build_dir/pytest-bindings.xml"
  count_junit "$build_dir/pytest-tests.xml"
}

# build_shared: builds shared libraries and what `cmake --install` needs, in build/shared.
build_shared() {
  full_options
  configure shared "${options[@]}" -DPENSTOCK_PYTHON=OFF -DPENSTOCK_EXAMPLES=OFF -DBUILD_SHARED_LIBS=ON && build penstock_installed
}

run_tests() {
  local kind=dev pattern="" long="" timeout=120
  passed=0 failed=0 skipped=0 result=0
  while [ $# -gt 0 ]; do
    case $1 in
      --asan) kind=asan ;;
      --tsan) kind=tsan ;;
      --shared) kind=shared ;;
      --long) long=1 ;;
      -k) pattern=${2:?"-k takes a pattern"}; shift ;;
      *) die "test takes --asan, --tsan, --shared, --long or -k PATTERN, not '$1'" ;;
    esac
    shift
  done
  [ -n "$long" ] && timeout=14400 && export PENSTOCK_LONG=1 PENSTOCK_PROPERTY_RUNS=${PENSTOCK_PROPERTY_RUNS:-10000}
  local started=$SECONDS
  mkdir -p build && : >"$failures"
  case $kind in
    dev) build_all && ensure_clients && ensure_engines && ensure_docs ;;
    asan) setup && configure asan -DPENSTOCK_SANITIZE=address -DPENSTOCK_WERROR=ON && build ;;
    tsan) setup && configure tsan -DPENSTOCK_SANITIZE=thread -DPENSTOCK_WERROR=ON && build ;;
    shared) setup && build_shared && pattern='^package\.' ;;
  esac
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
  say "built in $((SECONDS - started)) s; running the C++ tests"
  run_ctest "$pattern" "$timeout"
  if [ "$kind" = dev ]; then
    run_console_tests "$pattern" "$build_dir/console.xml" || result=1
    count_junit "$build_dir/console.xml"
    say "running the Python tests"
    run_pytest "$pattern" "$long"
  fi
  if [ "$kind$long$pattern" = dev1 ]; then
    say "checking the sources with the other compilers"
    local status=0
    python tools/check_compilers.py "$build_dir" || status=$?
    case $status in 0) passed=$((passed + 1)) ;; 77) skipped=$((skipped + 1)) ;; *) failed=$((failed + 1)) ;; esac
    say "fuzzing every target until it covers no new edges"
    if bash tools/dev/fuzz.sh --campaign; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    say "testing an installation of shared libraries"
    build_shared
    run_ctest '^package\.' "$timeout"
  fi
  [ $((passed + failed + skipped)) -gt 0 ] || die "no test matches '$pattern'; it is a regular expression for names of C++ tests, and an expression for pytest's -k"
  cat "$failures"
  say "took $((SECONDS - started)) s"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] && [ "$result" -eq 0 ]
}
