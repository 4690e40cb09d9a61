#!/usr/bin/env python3
"""Fails if a public header does not compile alone, includes a third-party header directly or indirectly, or exports nothing.

    public_headers.py [--compiler g++] [--map layers.toml] INCLUDE_FOLDER...

Each header is compiled as the only line of a program, with the public include folders alone. The compiler lists all headers
that are included, also indirectly (-H). penstock/torch.h and torch_checkpoint.h may include torch, which includes many
libraries; for them only the direct includes are checked, and a .cc file of client/torch compiles them first.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10: pytest depends on tomli
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
# Foreign prefixes that tools/layers.toml does not list.
ALSO_FOREIGN = ("gtest/", "gmock/", "benchmark/", "spdlog/", "fmt/", "ATen/", "c10/", "Python.h")
STANDARD = ("immintrin.h", "nmmintrin.h", "wmmintrin.h", "cpuid.h")  # in tools/layers.toml, but part of the compiler
# Headers that are for use with a foreign library.
MAY_REACH = {
    "penstock/torch.h": ("torch/",),
    "penstock/torch_checkpoint.h": ("ATen/", "c10/"),
    "penstock/emulator_gtest.h": ("gtest/",),
}
REACHED = re.compile(r"^(\.+) (.*)$", re.M)


def foreign_prefixes(layers: Path) -> tuple[str, ...]:
    rows = tomllib.loads(layers.read_text()).values()
    listed = {prefix for row in rows for prefix in row.get("third_party", [])}
    return tuple(sorted((listed | set(ALSO_FOREIGN)) - set(STANDARD)))


def is_foreign(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(f"/{prefix}" in path if prefix.endswith("/") else path.endswith(f"/{prefix}") for prefix in prefixes)


def check(header: str, compiler: str, folders: list[str], foreign: tuple[str, ...]) -> list[str]:
    """Compiles one header, for example "penstock/client.h". Returns its violations."""
    command = [
        compiler,
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wshadow",
        "-Werror",
        "-H",
        "-x",
        "c++",
        "-",
    ]
    command += [f"-I{folder}" for folder in folders]
    done = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
    bad = check_export(header, next(path for folder in folders if (path := Path(folder, header)).exists()))
    bad += [f"{header} includes {path}" for _, path in REACHED.findall(done.stderr) if is_foreign(path, foreign)]
    if done.returncode != 0:
        messages = "\n".join(line for line in done.stderr.splitlines() if not line.startswith(".") and line.strip())
        bad.append(f"{header} does not compile by itself:\n{messages}")
    return bad


def check_export(header: str, path: Path) -> list[str]:
    """Checks that a header with names of Penstock marks them for the shared libraries."""
    text = path.read_text()
    if not re.search(r"^namespace penstock\b", text, re.M) or "\nnamespace PENSTOCK_EXPORT penstock {" in text:
        return []
    return [f'{header} hides its names in shared libraries; open its namespace with "namespace PENSTOCK_EXPORT penstock {{"']


def check_text(header: str, path: Path, allowed: tuple[str, ...]) -> list[str]:
    """Checks the direct includes of a header of MAY_REACH: penstock, the standard library and `allowed`."""
    named = re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.M)
    fine = ("penstock/", *allowed)
    return [f"{header} includes {name}" for name in named if not name.startswith(fine) and ("/" in name or "." in name)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--map", type=Path, default=ROOT / "tools/layers.toml")
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    foreign = foreign_prefixes(options.map)
    found = {str(path.relative_to(folder)): path for folder in options.folders for path in sorted(Path(folder).rglob("*.h"))}
    reaching = found.keys() & MAY_REACH.keys()
    bad = [row for header in reaching for row in check_text(header, found[header], MAY_REACH[header])]
    bad += [row for header in reaching for row in check_export(header, found[header])]
    alone = sorted(found.keys() - MAY_REACH.keys())
    with ThreadPoolExecutor(2) as pool:
        bad += [row for rows in pool.map(lambda h: check(h, options.compiler, options.folders, foreign), alone) for row in rows]
    print("\n".join(bad) if bad else f"public headers: {len(found)} compile by themselves and include no third-party header")
    if not found:
        print(f"no headers in {', '.join(options.folders)}")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
