# `./dev wheels`: builds the wheels of every distribution and repairs them. Sourced by ./dev. docs/how-to/wheels.md describes the result.

wheel_projects=(. packaging/emulator conformance)
wheel_versions=(3.10 3.11 3.12 3.13 3.14)
wheel_limit_bytes=$((12 << 20))

# has_headers PYTHON [VERSION]: whether the interpreter runs, has this version, and has the headers that an extension needs.
has_headers() {
  [ -n "$1" ] && "$1" - "${2:-}" 2>/dev/null <<'PYTHON'
import os, sys, sysconfig
version = "%d.%d" % sys.version_info[:2]
sys.exit(sys.argv[1] not in ("", version) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PYTHON
}

# find_python VERSION: prints an interpreter of this version: of tools/packages/fetch_python.sh, of PATH, or of pyenv.
find_python() {
  local candidate
  for candidate in "$PWD/build/pythons/$1/python" "$(command -v "python$1")" "${PYENV_ROOT:-${HOME:-}/.pyenv}/versions/$1".*/bin/"python$1"; do
    has_headers "$candidate" "$1" && { echo "$candidate"; return; }
  done
}

# wheel_name PROJECT: prints the distribution's name as it is in names of wheels.
wheel_name() { sed -n 's/^name = "\(.*\)"$/\1/p' "$1/pyproject.toml" | head -n 1 | tr - _; }

# build_wheels PYTHON: builds the wheels for this interpreter in build/wheels. The wheel of a project without an extension is built once.
build_wheels() {
  local python=$1 project name built
  for project in "${wheel_projects[@]}"; do
    name=$(wheel_name "$project")
    [ -z "$(ls build/wheels/"$name"-*-none-any.whl 2>/dev/null)" ] || continue
    rm -rf build/wheels/raw
    mkdir -p build/wheels/raw
    say "building $name for $("$python" -c 'import sys; print("CPython", sys.version.split()[0])')"
    # The build folders are as deep as build/dev, and the compiler has the same name, so that ccache has the objects of both.
    CC=${CC:-cc} CXX=${CXX:-c++} PYTHONPATH=$wheel_tools "$python" tools/packages/build_wheel.py "$project" build/wheels/raw \
      --build-dir "build/wheel-$name" --static build/static >"$(log_file "wheel-$name")" 2>&1 || {
      tail -n 30 "$(log_file "wheel-$name")" >&2
      die "building the wheel of $name failed; all output is in $(log_file "wheel-$name")"
    }
    built=$(ls build/wheels/raw/*.whl)
    case $built in
      *-none-any.whl) mv "$built" build/wheels/ ;;
      *) auditwheel repair --wheel-dir build/wheels "$built" >"$(log_file auditwheel)" 2>&1 || { cat "$(log_file auditwheel)" >&2; die "auditwheel refused $built"; } ;;
    esac
  done
}

# run_wheels [--python PATH]...: for the given interpreters, or for one of every version that is found.
run_wheels() {
  local pythons=() version python missing="" file size large=""
  while [ $# -gt 0 ]; do
    case $1 in
      --python) pythons+=("${2:?"--python takes an interpreter, for example /usr/bin/python3.12"}"); shift ;;
      *) die "wheels takes --python PATH, not '$1'" ;;
    esac
    shift
  done
  ensure_packages
  make_venv requirements-wheels.txt
  wheel_tools=$("$made/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  export PATH="$made/bin:$PATH" CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=include_file_ctime,include_file_mtime
  for python in "${pythons[@]}"; do
    has_headers "$python" || die "'$python' is no Python interpreter with headers (Python.h); install its development package"
  done
  if [ ${#pythons[@]} -eq 0 ]; then
    for version in "${wheel_versions[@]}"; do
      python=$(find_python "$version")
      [ -n "$python" ] && pythons+=("$python") || missing+=" $version"
    done
    [ ${#pythons[@]} -gt 0 ] || die "no CPython with headers was found; name one with --python PATH"
  fi
  ensure_console
  ensure_node  # the packages' licences
  tools/packages/static_dependencies.sh build/static >"$(log_file static)" 2>&1 || { tail -n 20 "$(log_file static)" >&2; die "building libcurl failed; all output is in $(log_file static)"; }
  rm -rf build/wheels
  for python in "${pythons[@]}"; do build_wheels "$python"; done
  rm -rf build/wheels/raw
  for file in build/wheels/*.whl; do
    size=$(stat -c %s "$file")
    printf '%9d  %s\n' "$size" "${file#build/wheels/}"
    [ "$size" -le "$wheel_limit_bytes" ] || large+=" ${file##*/}"
  done
  [ -z "$large" ] || die "larger than $wheel_limit_bytes bytes:$large"
  [ -z "$missing" ] || say "no interpreter with headers for CPython$missing: give one with --python PATH, or try tools/packages/fetch_python.sh VERSION SUITE"
}
