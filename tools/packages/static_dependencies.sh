#!/usr/bin/env bash
# static_dependencies.sh FOLDER [arm64]: builds what the wheels link statically and what Debian has only with more than they need, from
# the sources of Debian 12, in FOLDER: an HTTP-only libcurl, RE2 with position-independent code, and the header of cpp-httplib.
# FOLDER/copyright has their licences. OpenSSL, SQLite and pugixml are those of Debian's development packages (docs/decisions/0117-wheels.md).
# With "arm64", compiles for ARM64 with Debian's cross compiler, and unpacks the development packages in FOLDER/sysroot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/packages/debian_sources.sh
. tools/packages/debian_sources.sh
mkdir -p "${1:?usage: static_dependencies.sh FOLDER [arm64]}"
folder=$(cd "$1" && pwd)
toolchain=$PWD/tools/packages/arm64.cmake
prefix="" options=()
case ${2:-} in
  "") ;;
  arm64) prefix=aarch64-linux-gnu- options=("-DCMAKE_TOOLCHAIN_FILE=$toolchain" "-DPENSTOCK_STATIC_DEPENDENCIES=$folder") ;;
  *) echo "static_dependencies: the architecture is '$2'; it must be arm64 or missing" >&2; exit 1 ;;
esac
recipe=$({ sha256sum tools/packages/{static_dependencies.sh,debian_sources.sh,arm64.cmake}; echo "${2:-}"; } | sha256sum)
[ "$recipe" != "$(cat "$folder/ready" 2>/dev/null)" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"/{sources,include,lib,copyright}
# std::random_device in libstdc++.a needs arc4random of glibc 2.36. With this one, of the same contract, glibc 2.34 suffices. Reads of
# less than 256 bytes are never interrupted once the kernel's generator is ready.
"${prefix}gcc" -c -O2 -fPIC -Wall -Werror -x c -o "$folder/lib/arc4random.o" - <<'CODE'
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t bits;
  while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
    if (errno != EINTR) abort();
  }
  return bits;
}
CODE

(
  apt_here "$folder/apt" - -- deb-src
  cd "$folder/sources"
  apt-get source -qq curl cpp-httplib re2
)
re2_archive=$(g++ -print-file-name=libre2.a)
if [ -n "$prefix" ]; then
  unpack_packages "$folder/sysroot" arm64 - libssl-dev libsqlite3-dev libpugixml{-dev,1v5} libre2-dev libxxhash-dev \
    nlohmann-json3-dev libcli11-dev libtomlplusplus-dev libgtest-dev libgmock-dev
  re2_archive=$folder/sysroot/usr/lib/aarch64-linux-gnu/libre2.a
fi
for name in curl cpp-httplib re2; do
  cp "$folder"/sources/$name-*/debian/copyright "$folder/copyright/$name"
done
cp "$folder"/sources/cpp-httplib-*/httplib.h "$folder/include/"

# The client opens connections through libcurl (names, proxies, TLS) and speaks HTTP itself. The client finds the CA certificates.
off=(ALTSVC COOKIES CRYPTO_AUTH DOH GETOPTIONS HSTS MIME NETRC NTLM PARSEDATE PROGRESS_METER)
for name in "${off[@]}"; do options+=("-DCURL_DISABLE_$name=ON"); done
cmake -S "$folder"/sources/curl-* -B "$folder/curl" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder" \
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF \
  -DENABLE_MANUAL=OFF -DHTTP_ONLY=ON -DENABLE_IPV6=ON -DENABLE_THREADED_RESOLVER=ON -DENABLE_UNIX_SOCKETS=OFF \
  -DCURL_USE_OPENSSL=ON -DOPENSSL_USE_STATIC_LIBS=ON -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none -DCURL_CA_FALLBACK=OFF \
  -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_NGHTTP2=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF \
  -DCURL_USE_LIBSSH=OFF -DCURL_USE_GSSAPI=OFF -DCURL_DISABLE_LDAP=ON "${options[@]}" \
  -DCMAKE_C_FLAGS="-ffunction-sections -fdata-sections -fvisibility=hidden"
cmake --build "$folder/curl"
cmake --install "$folder/curl" >/dev/null
# Debian's archive of RE2 has code for programs only, not for extensions. Its tables, which the sources lack, fit both.
cd "$folder"/sources/re2-*
rm -f obj/*
mkdir -p obj
(cd obj && ar x "$re2_archive" perl_groups.o unicode_casefold.o unicode_groups.o)
printf '%s\n' re2/*.cc util/rune.cc util/strutil.cc | grep -v -e /testing/ -e fuzz | xargs -P "$(nproc)" -I FILE sh -c \
  '"$0"g++ -c -O2 -DNDEBUG -fPIC -pthread -std=c++11 -ffunction-sections -fvisibility=hidden -I. -o obj/$(basename FILE .cc).o FILE' "$prefix"
ar rcs "$folder/lib/libre2.a" obj/*.o
rm -rf "$folder"/{apt,bin,curl,sources}
echo "$recipe" >"$folder/ready"
