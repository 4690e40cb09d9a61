#!/usr/bin/env python3
"""Checks the product sources with each other supported compiler on PATH: `-fsyntax-only`, with all warnings as errors.

    check_compilers.py BUILD_FOLDER [--under FOLDER]... [--share N] [--jobs N]

The flags are those of BUILD_FOLDER/compile_commands.json. The compiler of that build is not checked again. Exits with 1 if a
compiler reports an error, and with 77 if no other supported compiler is installed. `./dev test --long` runs it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST_VERSION = {"g++": 12, "clang++": 16}  # CONTRIBUTING.md, "Compilers and systems"
SKIPPED = 77
# As in cmake/PenstockModule.cmake.
CLANG_FLAGS = {"-Wno-maybe-uninitialized": "-Wno-error=deprecated-declarations"}
PRODUCT = re.compile(r"(base|client|emulator|bindings)/(?!(.*/)?(fuzz|testing)/).*(?<!_test)\.cc")


def other_compilers(own: str) -> list[str]:
    """Returns the supported compilers on PATH, by name, without `own`."""
    found = {}
    for folder in os.get_exec_path():
        for path in Path(folder).glob("*++-*"):
            named = re.fullmatch(r"(g\+\+|clang\+\+)-(\d+)", path.name)
            if named and int(named[2]) >= FIRST_VERSION[named[1]] and os.access(path, os.X_OK):
                found.setdefault(path.name, path.resolve())
    return sorted(name for name, path in found.items() if path != Path(own).resolve())


def share_of(path: str, share: int) -> bool:
    """Whether a check of one source in `share` includes this one."""
    return int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], "big") % share == 0


def product_commands(build: Path, folders: list[str], share: int) -> dict[str, list[str]]:
    """Returns the compiler call of each product source in the folders that the share includes, by path."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        path = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else ""
        is_wanted = not folders or any(path.startswith(folder.rstrip("/") + "/") for folder in folders)
        if PRODUCT.fullmatch(path) and is_wanted and share_of(path, share):
            commands[path] = shlex.split(entry["command"])
    return commands


def syntax_only(compiler: str, command: Iterable[str]) -> list[str]:
    """Returns the same call of another compiler, without an output."""
    flags = list(command)[1:]
    at = flags.index("-o")
    del flags[at : at + 2]
    flags.remove("-c")
    if compiler.startswith("clang"):
        flags = [CLANG_FLAGS.get(flag, flag) for flag in flags]
    return [compiler, "-fsyntax-only", *flags]


def check(compiler: str, commands: dict[str, list[str]], jobs: int) -> int:
    """Checks all sources and prints the errors. Returns the number of sources with errors."""
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=False)
    if version.returncode != 0 or not version.stdout.strip():
        version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True)
    begun = time.monotonic()

    def failure(path: str) -> str:
        call = syntax_only(compiler, commands[path])
        ended = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
        return "" if ended.returncode == 0 else f"{path}:\n{ended.stderr}"

    with ThreadPoolExecutor(jobs) as pool:
        failures = [text for text in pool.map(failure, sorted(commands)) if text]
    print(*failures, sep="\n", end="")
    print(f"compilers: {compiler} ({version.stdout.strip()}): {len(commands)} sources, {len(failures)} with errors, "
          f"{time.monotonic() - begun:.0f} s", flush=True)  # fmt: skip
    return len(failures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="a configured build folder")
    parser.add_argument("--under", action="append", default=[], metavar="FOLDER", help="check only sources in this folder")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="check one source in N, chosen by a hash of its path")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("PENSTOCK_JOBS", "2")), metavar="N")
    options = parser.parse_args()
    own = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (options.build / "CMakeCache.txt").read_text(), re.MULTILINE)
    compilers = other_compilers(own[1] if own else "")
    if not compilers:
        wanted = ", ".join(f"{name}-{first} and later" for name, first in FIRST_VERSION.items())
        print(f"compilers: skipped, because no other supported compiler is on PATH ({wanted})")
        return SKIPPED
    commands = product_commands(options.build, options.under, options.share)
    if not commands:
        sys.exit(f"check_compilers: {options.build}/compile_commands.json has no such source; configure it from this folder")
    return int(sum(check(compiler, commands, options.jobs) for compiler in compilers) > 0)


if __name__ == "__main__":
    sys.exit(main())
