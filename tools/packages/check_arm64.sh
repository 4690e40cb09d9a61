#!/usr/bin/env bash
# check_arm64.sh [PATTERN]: compiles base, client and emulator for ARM64 with Debian's cross compiler, as the wheels are (static
# libraries), and runs the unit tests whose names match PATTERN under qemu. Default: all of the four modules that have no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
