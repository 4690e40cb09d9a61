#!/usr/bin/env bash
# fetch_python.sh VERSION SUITE: unpacks CPython VERSION of Debian's SUITE, with its headers, in build/pythons/VERSION, for
# `./dev wheels`. For example: fetch_python.sh 3.14 forky. Nothing is installed. The interpreter runs with the C library of its suite;
# extensions are compiled with this system's compiler and C library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/packages/debian_sources.sh
. tools/packages/debian_sources.sh
version=${1:?usage: fetch_python.sh VERSION SUITE, for example 3.14 forky}
suite=${2:?usage: fetch_python.sh VERSION SUITE, for example 3.14 forky}
folder=$PWD/build/pythons/$version
rm -rf "$folder"
mkdir -p "$folder"
unpack_packages "$folder/root" "$(dpkg --print-architecture)" "$suite" "python$version-minimal" "libpython$version-minimal" \
  "libpython$version-stdlib" "libpython$version-dev" "python$version-dev" \
  libc6 libexpat1 zlib1g libssl3t64 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libuuid1 libzstd1
cd "$folder"
# pyconfig.h includes the header of the architecture, which is in the folder above.
(cd "$folder/root/usr/include/python$version" && for headers in ../*-linux-gnu; do ln -s "$headers" .; done)
loader=$(find "$folder/root" -name 'ld-linux-*.so.*' | head -n 1)
libraries=$(find "$folder/root" -name 'libc.so.6' -printf '%h\n' | head -n 1)
cat >"$folder/python" <<PYTHON
#!/bin/sh
export PYTHONHOME="$folder/root/usr"
exec "$loader" --argv0 "\$0" --library-path "$libraries:$folder/root/usr/lib/$(uname -m)-linux-gnu" "$folder/root/usr/bin/python$version" "\$@"
PYTHON
chmod +x "$folder/python"
"$folder/python" -c 'import sys, sysconfig; print(sys.executable, sys.version, sysconfig.get_path("include"))'
