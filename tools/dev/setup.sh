# The set-up of `./dev`: Debian packages, a virtual environment, a configured build folder.
# Sourced by ./dev; every function is fast if nothing is missing.

cache_home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
cache_root=${PENSTOCK_CACHE:-${cache_home:+$cache_home/penstock}}

missing_packages() {
  local wanted
  wanted=$(grep -Ev '^\s*(#|$)' tools/apt-packages.txt)
  # dpkg-query prints one line for each known package; packages that are not "installed" are missing.
  # shellcheck disable=SC2086
  comm -23 <(sort <<<"$wanted") \
    <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | awk '$2 == "installed" {print $1}' | sort -u)
}

# For PENSTOCK_SKIP_APT: warns about missing packages, and exits if a tool of the build is missing.
report_packages() {
  local missing tool tools="" compiler=${CXX:-g++}
  if command -v dpkg-query >/dev/null; then
    missing=$(missing_packages | tr '\n' ' ')
    [ -z "$missing" ] || say "PENSTOCK_SKIP_APT is set; these Debian packages are missing; the build fails unless their files were installed another way: ${missing% }"
  fi
  for tool in cmake ninja "${compiler%% *}" pkg-config; do
    command -v "$tool" >/dev/null || tools+=" $tool"
  done
  [ -z "$tools" ] || die "PENSTOCK_SKIP_APT is set, and these tools are not on PATH:$tools; install the packages of tools/apt-packages.txt"
}

ensure_packages() {
  if [ -n "${PENSTOCK_SKIP_APT:-}" ]; then
    report_packages
    return
  fi
  command -v dpkg-query >/dev/null || die "dpkg is missing: ./dev installs packages on Debian 12 only. On other systems install the packages of tools/apt-packages.txt yourself and set PENSTOCK_SKIP_APT=1."
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  missing=${missing% }
  [ -z "$missing" ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
    else
      local sudo="sudo " who=""
      command -v sudo >/dev/null || { sudo="" who=" as root"; }
      printf 'dev: Debian packages are missing, and installing them needs root. Run this command%s, then start again:\n\n  %sapt-get update && %sapt-get install -y --no-install-recommends %s\n\n' \
        "$who" "$sudo" "$sudo" "$missing" >&2
      exit 3
    fi
  fi
  say "installing Debian packages: $missing"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq || die "apt-get update failed; see its message above"
  # shellcheck disable=SC2086
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends $missing >"$(log_file apt)" 2>&1 || {
    tail -n 20 "$(log_file apt)" >&2
    die "apt-get install failed; all output is in $(log_file apt). tools/apt-packages.txt has Debian 12's names; on another release install its packages yourself and set PENSTOCK_SKIP_APT=1."
  }
}

pytorch_cpu_index=https://download.pytorch.org/whl/cpu

# pip_has_an_index PYTHON: whether pip is configured with another index or folder for packages.
pip_has_an_index() {
  "$1" -m pip config list 2>/dev/null | grep -Eq '\.(index-url|extra-index-url|no-index|find-links)='
}

# install_torch PYTHON REQUIREMENT: installs torch without CUDA from PyTorch's index: PyPI's build for Linux contains 2 GB of CUDA
# libraries, which are not used here. Installs PyPI's build if PyTorch's index does not respond within seconds.
install_torch() {
  local pip=("$1" -m pip install --quiet --disable-pip-version-check)
  if [ "$(uname -sm)" = "Linux x86_64" ] && ! pip_has_an_index "$1" && timeout 15 "$1" - "$pytorch_cpu_index/torch/" <<'EOF'
import sys
import urllib.request

try:
    urllib.request.urlopen(sys.argv[1], timeout=4).close()
except OSError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
EOF
  then
    "${pip[@]}" --extra-index-url "$pytorch_cpu_index" "$2+cpu" && return
  fi
  "${pip[@]}" "$2"
}

# make_venv FILE [BASE]: creates the environment with the requirements of FILE and sets $made to its path. There is one environment
# per content of FILE and per Python, shared by all checkouts of this user. It also has the packages of the environment BASE that
# FILE does not replace.
make_venv() {
  local file=$1 base=${2:-} python=${PENSTOCK_PYTHON:-python3} key torch packages='import site; print(site.getsitepackages()[0])'
  [ -n "$cache_root" ] || die "HOME is not set, so the folder of the Python environment is unknown; set HOME, or PENSTOCK_CACHE to a folder"
  key=$({ cat "$file"; [ -z "$base" ] || echo "$base"; "$python" -c 'import sys; print(sys.version, sys.base_prefix)'; } | sha256sum | cut -c1-16)
  made=$cache_root/venv-$key
  [ -e "$made/ready" ] && return
  mkdir -p "$cache_root"
  say "creating the Python environment of $file (once; takes some minutes with torch, which has about 200 MB)"
  torch=$(grep -E '^torch==' "$file") || true
  (
    flock 9
    [ -e "$made/ready" ] && exit 0
    rm -rf "$made"
    "$python" -m venv "$made" || exit 1
    [ -z "$base" ] || "$base/bin/python" -c "$packages" >"$("$made/bin/python" -c "$packages")/base.pth" || exit 1
    [ -z "$torch" ] || install_torch "$made/bin/python" "$torch" || exit 1
    "$made/bin/python" -m pip install --quiet --disable-pip-version-check -r "$file" || exit 1
    touch "$made/ready"
  ) 9>"$made.lock" >"$(log_file pip)" 2>&1 || { tail -n 20 "$(log_file pip)" >&2; die "creating the Python environment failed; the output is in $(log_file pip)"; }
}

ensure_venv() {
  local python=${PENSTOCK_PYTHON:-python3}
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    die "$python is missing or older than 3.10; set PENSTOCK_PYTHON to a newer one"
  make_venv requirements-dev.txt
  venv=$made
  export PATH="$venv/bin:$PATH"
}

# Creates the environments of foreign clients that conflict with the other packages. Tests and benchmarks need them.
ensure_clients() {
  make_venv requirements-clients.txt
  export PENSTOCK_CLIENTS_PYTHON="$made/bin/python"
  make_venv requirements-datapipes.txt "$venv"
  export PENSTOCK_DATAPIPES_PYTHON="$made/bin/python"
}

# Creates the environment of engines such as Ray, which only tests need.
ensure_engines() {
  make_venv requirements-engines.txt "$venv"
  export PENSTOCK_ENGINES_PYTHON="$made/bin/python"
}

# configure NAME [CMAKE OPTION...]: configures build/NAME if it is new or its options have changed. CMake reads the compilers of CC
# and CXX only in a new folder, so other compilers empty the cache of the folder.
configure() {
  local name=$1
  shift
  local folder=build/$name options="$* $venv" compilers="${CC:-} ${CXX:-}" fresh=()
  [ "$compilers" = "$(cat "$folder/dev-compilers" 2>/dev/null || echo " ")" ] || fresh=(--fresh)
  build_dir=$folder
  # ccache hashes paths relative to the checkout, so that all checkouts share its entries.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=include_file_ctime,include_file_mtime
  if [ ! -e "$folder/build.ninja" ] || [ ${#fresh[@]} -gt 0 ] || [ "$(cat "$folder/dev-options" 2>/dev/null)" != "$options" ]; then
    say "configuring $folder"
    mkdir -p "$folder"
    cmake "${fresh[@]}" -S . -B "$folder" -G Ninja "$@" >"$folder/configure.log" 2>&1 || {
      tail -n 30 "$folder/configure.log" >&2
      die "configuring failed; all output is in $folder/configure.log"
    }
    printf '%s' "$options" >"$folder/dev-options"
    printf '%s' "$compilers" >"$folder/dev-compilers"
  fi
}

full_options() {
  torch_prefix=$(cat "$venv/torch-prefix" 2>/dev/null) || true
  if [ -z "$torch_prefix" ]; then
    torch_prefix=$(python -c 'import torch; print(torch.utils.cmake_prefix_path)') || die "torch does not import in $venv"
    echo "$torch_prefix" >"$venv/torch-prefix"
  fi
  pybind_prefix=$(python -m pybind11 --cmakedir) || die "pybind11 is missing in $venv"
  options=(-DPENSTOCK_PYTHON=ON -DPENSTOCK_TORCH=ON -DPENSTOCK_EXAMPLES=ON -DPENSTOCK_WERROR=ON
    "-DCMAKE_PREFIX_PATH=$torch_prefix" "-Dpybind11_DIR=$pybind_prefix" "-DPython_EXECUTABLE=$venv/bin/python")
}

# Filters ninja's output for a log: one line for every 5 % of a long build, and all lines that are not status lines.
percentages() {
  local line next=0
  while IFS= read -r line; do
    if [[ $line =~ ^@\ *([0-9]+)%\ of\ ([0-9]+)@ ]]; then
      if ((BASH_REMATCH[2] >= 20 && BASH_REMATCH[1] >= next)); then
        say "built ${BASH_REMATCH[1]} % of ${BASH_REMATCH[2]} steps"
        next=$((BASH_REMATCH[1] / 5 * 5 + 5))
      fi
    elif [ "$line" != "ninja: no work to do." ]; then
      printf '%s\n' "$line" >&2
    fi
  done
}

# build [TARGET...]: builds the targets, or everything, in build_dir. A terminal shows ninja's status line.
build() {
  local jobs=(${PENSTOCK_JOBS:+-j "$PENSTOCK_JOBS"})
  if [ -t 2 ]; then
    (cd "$build_dir" && ninja "${jobs[@]}" "$@" >&2)
  else
    (cd "$build_dir" && NINJA_STATUS='@%p of %t@ ' ninja "${jobs[@]}" "$@" 2>&1) | percentages
  fi || die "the build failed; the first error is above"
}
