#!/usr/bin/env bash
# check_wheels.sh [--packages FOLDER] [SUITE...]: installs the wheels of build/wheels in clean roots of the SUITEs (bookworm trixie) and
# checks them there, offline and without compilers. Needs root and the Debian package debootstrap. SUITE is one of Debian or Ubuntu.
#   --packages FOLDER  also runs the checks of the first suite with these site-packages, for example those of an environment with
#                      torch; its Python has the version of the suite's
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/packages/debian_sources.sh
. tools/packages/debian_sources.sh
die() { echo "check_wheels: $*" >&2; exit 1; }
packages=""
[ "${1:-}" != --packages ] || { packages=$(realpath "${2:?"--packages takes a site-packages folder"}"); shift 2; }
[ "$(id -u)" -eq 0 ] || die "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
ls build/wheels/*.whl >/dev/null 2>&1 || die "build/wheels has no wheels; run ./dev wheels first"
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p build/roots

# make_root SUITE: makes build/roots/SUITE once: a minimal system with Python.
make_root() {
  local root=build/roots/$1 mirror script=/usr/share/debootstrap/scripts/$1 options=()
  [ ! -e "$root/ready" ] || return 0
  rm -rf "$root"
  mkdir -p "$root"
  mirror=$(debian_mirror)
  case $1 in jammy | noble | resolute)
    # Debian's keys of Ubuntu are in newer suites. debootstrap has one script for all suites of Ubuntu.
    mirror=http://archive.ubuntu.com/ubuntu script=/usr/share/debootstrap/scripts/gutsy
    unpack_packages build/roots/keyring all sid ubuntu-keyring
    options=("--keyring=build/roots/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" --components=main,universe)
  esac
  debootstrap --variant=minbase --include=python3,python3-venv "${options[@]}" "$1" "$root" "$mirror" "$script" >"build/roots/$1.log" 2>&1 ||
    { tail -n 5 "build/roots/$1.log" >&2; die "debootstrap failed; all output is in build/roots/$1.log"; }
  touch "$root/ready"
}

# check_suite SUITE: installs the wheels for the suite's Python and runs the checks in the root.
check_suite() {
  local root=build/roots/$1
  ! chroot "$root" sh -c 'command -v cc gcc g++ c++ cmake' || die "$root has a compiler"
  rm -rf "$root"/{wheels,venv,inputs}
  mkdir -p "$root"/{wheels,inputs}
  cp build/wheels/*.whl "$root/wheels/"
  cp tools/packages/check_installed.py "$root/inputs/"
  cp README.md "$root/inputs/README.md"
  cp packaging/emulator/README.md "$root/inputs/emulator.md"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$root/inputs/key.pem" -out "$root/inputs/cert.pem" 2>/dev/null
  in_root "$root" python3 -m venv /venv
  in_root "$root" /venv/bin/pip install -q --no-index --find-links /wheels penstock penstock-emulator
  in_root "$root" /venv/bin/pip install -q --no-index --find-links /wheels --no-deps penstock-conformance  # boto3 is not here
  in_root "$root" /venv/bin/python /inputs/check_installed.py /inputs
}

# in_root ROOT COMMAND...: runs the command in the root, without the environment of this process.
in_root() { chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root "${@:2}"; }

# check_with_packages SUITE: runs the checks again with the packages of the given folder. Unmounts it in any case.
check_with_packages() (
  root=build/roots/$1
  mkdir -p "$root/packages"
  trap 'umount "$root"/{dev/shm,proc,packages}' EXIT
  mount --bind "$packages" "$root/packages"
  mount -o remount,bind,ro "$root/packages"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/dev/shm"
  in_root "$root" sh -c 'echo /packages >"$(/venv/bin/python -c "import site; print(site.getsitepackages()[0])")/packages.pth"'
  in_root "$root" /venv/bin/python /inputs/check_installed.py /inputs
)

first=$1
for suite; do
  make_root "$suite"
  echo "$suite:"
  check_suite "$suite"
done
[ -z "$packages" ] || { echo "$first with $packages:"; check_with_packages "$first"; }
