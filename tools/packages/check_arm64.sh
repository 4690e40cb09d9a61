#!/usr/bin/env bash
# check_arm64.sh [TARGET...]: compiles the C++ code for ARM64 with Debian's cross compiler and static libraries, as in a wheel, and runs
# the test programs of the TARGETs under qemu, for example of penstock_base_test. Default: all. docs/how-to/wheels.md has the results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
die() { echo "check_arm64: $*" >&2; exit 1; }
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v "$tool" >/dev/null || die "$tool is missing; install the packages of tools/apt-packages.txt"
done
[ $# -gt 0 ] || set -- all
tools/packages/static_dependencies.sh build/static-arm64 arm64
cmake -S . -B build/arm64 -G Ninja --log-level=WARNING --toolchain tools/packages/arm64.cmake \
  -DPENSTOCK_STATIC_DEPENDENCIES="$PWD/build/static-arm64" -DPENSTOCK_WERROR=ON -DPENSTOCK_INSTALL=OFF
ninja -C build/arm64 "$@"
failed=""
for target; do
  case $target in
    all) name='penstock_*_test' ;;
    *_test) name=$target ;;
    *) continue ;;
  esac
  for program in $(find build/arm64 -name "$name" -type f -perm -u+x | sort); do
    echo "${program##*/}:"
    (cd "${program%/*}" && qemu-aarch64-static -L /usr/aarch64-linux-gnu "./${program##*/}" --gtest_brief=1) || failed+=" ${program##*/}"
  done
done
[ -z "$failed" ] || die "these programs failed:$failed"
