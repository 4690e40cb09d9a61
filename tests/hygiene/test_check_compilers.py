"""tools/check_compilers.py calls each other supported compiler with the flags of the build and reports its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FAKE = """#!/bin/sh
case $1 in -dumpfullversion) echo 99.1; exit ;; esac
echo "$@" >>{log}
case "$*" in *base/error.cc*) {error} ;; esac
"""


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build folder with two product sources, a test and a file outside of the repository."""
    files = [ROOT / "base/clock.cc", ROOT / "base/error.cc", ROOT / "base/error_test.cc", tmp_path / "other.cc"]
    command = "c++ -Ibase -Wall -Werror -Wno-maybe-uninitialized -o x.o -c {}"
    (tmp_path / "compile_commands.json").write_text(
        json.dumps([{"file": str(file), "command": command.format(file)} for file in files])
    )
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n")
    (tmp_path / "bin").mkdir()
    return tmp_path


def add_compiler(build: Path, name: str, *, error: str = "true") -> Path:
    """Adds a compiler that appends its calls to a file. `error`: what it runs for base/error.cc."""
    log = build / f"{name}.log"
    path = build / "bin" / name
    path.write_text(FAKE.format(log=log, error=error))
    path.chmod(0o700)
    return log


def run_check(build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/check_compilers.py"), str(build), *options]
    environment = {**os.environ, "PATH": str(build / "bin")}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)


def test_every_other_supported_compiler_checks_the_product_sources(build):
    gcc, clang = add_compiler(build, "g++-13"), add_compiler(build, "clang++-17")
    too_old = [add_compiler(build, name) for name in ("g++-11", "clang++-15")]
    ended = run_check(build)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("(99.1): 2 sources, 0 with errors") == 2
    flags = "-fsyntax-only -Ibase -Wall -Werror -Wno-maybe-uninitialized"
    sources = [str(ROOT / "base/clock.cc"), str(ROOT / "base/error.cc")]
    assert sorted(gcc.read_text().splitlines()) == [f"{flags} {source}" for source in sources]
    flags = flags.replace("-Wno-maybe-uninitialized", "-Wno-error=deprecated-declarations")
    assert sorted(clang.read_text().splitlines()) == [f"{flags} {source}" for source in sources]
    assert not any(log.exists() for log in too_old)


def test_an_error_of_one_compiler_fails_the_check(build):
    add_compiler(build, "g++-13")
    add_compiler(build, "g++-14", error="echo 'error: planted' >&2; exit 1")
    ended = run_check(build)
    assert ended.returncode == 1
    assert "base/error.cc:\nerror: planted" in ended.stdout
    assert "compilers: g++-14 (99.1): 2 sources, 1 with errors" in ended.stdout


def test_folders_and_a_share_select_sources(build):
    add_compiler(build, "g++-13")
    ended = run_check(build, "--under", "client")
    assert (ended.returncode, "has no such source" in ended.stderr) == (1, True)
    checked = [run_check(build, "--under", "base", "--share", str(share)).stdout for share in (1, 1 << 60)]
    assert [": 2 sources" in text for text in checked] == [True, False]


def test_without_another_compiler_the_check_is_skipped(build):
    ended = run_check(build)
    assert ended.returncode == 77
    assert ended.stdout.startswith("compilers: skipped, because no other supported compiler is on PATH (g++-12 and later, ")
