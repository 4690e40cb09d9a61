"""`./dev` installs torch without CUDA from PyTorch's index, unless pip has its own index or that index does not respond.
It builds with the compilers of CC and CXX.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAIN = "-m pip install --quiet --disable-pip-version-check torch==2.13.0"
WITHOUT_CUDA = (
    "-m pip install --quiet --disable-pip-version-check --extra-index-url https://download.pytorch.org/whl/cpu torch==2.13.0+cpu"
)

# A fake Python that logs its arguments. CONFIG: the output of `pip config list`; INDEX: 0 if the index responds; CPU: 0 if the
# index has the build.
PYTHON = """#!/bin/sh
case "$*" in
  "-m pip config list") printf '%s\\n' "$CONFIG" ;;
  -\\ *) cat >/dev/null; echo "looked at $2" >>"$CALLS"; exit "$INDEX" ;;
  *+cpu) echo "$*" >>"$CALLS"; exit "$CPU" ;;
  *) echo "$*" >>"$CALLS" ;;
esac
"""


def commands_of_install_torch(
    folder: Path, *, config: str = "", index: int = 0, cpu: int = 0, machine: str = "Linux x86_64"
) -> list[str]:
    (folder / "python").write_text(PYTHON)
    (folder / "uname").write_text(f"#!/bin/sh\necho {machine}\n")
    for name in ("python", "uname"):
        (folder / name).chmod(0o755)
    calls = folder / "calls"
    program = f'set -euo pipefail; . tools/dev/setup.sh; install_torch "{folder}/python" torch==2.13.0'
    variables = {"CONFIG": config, "INDEX": str(index), "CPU": str(cpu), "CALLS": str(calls)}
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", "-c", program], cwd=ROOT, env={**os.environ, **variables, "PATH": path}, check=True, timeout=60)
    return calls.read_text().splitlines()


def test_docs_installs_packages_if_doxygen_is_missing() -> None:
    program = """
        set -euo pipefail
        . tools/dev/docs.sh
        command() { return 1; }
        die() { echo "$1"; exit 1; }
        ensure_docs() { PENSTOCK_DOCS_PYTHON=python3; }
        ensure_packages() { echo packages; }
        run_docs
    """
    done = subprocess.run(["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.splitlines()[0] == "packages"
    assert done.stdout.splitlines()[1].startswith("doxygen is missing")


LOOKED = "looked at https://download.pytorch.org/whl/cpu/torch/"


def test_the_build_without_cuda_is_installed(tmp_path: Path) -> None:
    assert commands_of_install_torch(tmp_path) == [LOOKED, WITHOUT_CUDA]


@pytest.mark.parametrize(
    "config",
    [
        "global.index-url='https://mirror/simple'",
        "global.cert='/c'\n:env:.extra-index-url='file:///x'",
        "install.find-links='/wheels'",
        ":env:.no-index='1'",
    ],
)
def test_a_configured_index_of_pip_is_used_alone(tmp_path: Path, config: str) -> None:
    assert commands_of_install_torch(tmp_path, config=config) == [PLAIN]


def test_other_settings_of_pip_do_not_change_the_index(tmp_path: Path) -> None:
    config = "global.cert='/c'\n:env:.default-timeout='180'"
    assert commands_of_install_torch(tmp_path, config=config) == [LOOKED, WITHOUT_CUDA]


def test_without_a_response_from_the_index_the_plain_build_is_installed(tmp_path: Path) -> None:
    assert commands_of_install_torch(tmp_path, index=1) == [LOOKED, PLAIN]


def test_a_missing_build_without_cuda_is_replaced_by_the_plain_build(tmp_path: Path) -> None:
    assert commands_of_install_torch(tmp_path, cpu=1) == [LOOKED, WITHOUT_CUDA, PLAIN]


def test_on_other_machines_the_plain_build_is_installed(tmp_path: Path) -> None:
    assert commands_of_install_torch(tmp_path, machine="Linux aarch64") == [PLAIN]


def test_the_look_at_an_index_that_does_not_respond_ends(tmp_path: Path) -> None:
    """Runs the program of setup.sh with this Python against a listener that accepts no connection."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        script = (ROOT / "tools/dev/setup.sh").read_text()
        look = script[script.index("<<'EOF'\n") + len("<<'EOF'\n") :].partition("\nEOF\n")[0]
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        command = [sys.executable, "-", url]
        done = subprocess.run(command, input=look, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(url)


def cmake_calls(folder: Path, *compilers: str) -> list[str]:
    """Configures the same folder once for each compiler, with a fake CMake, and returns the arguments of the fake's calls."""
    (folder / "cmake").write_text('#!/bin/sh\necho "$CXX: $*" >>"$CALLS"\ntouch build/dev/build.ninja\n')
    (folder / "cmake").chmod(0o755)
    setup = (ROOT / "tools/dev/setup.sh").as_posix()
    program = f'set -euo pipefail; say() {{ :; }}; venv=V; . "{setup}"; configure dev -DA=ON'
    for compiler in compilers:
        variables = {"CALLS": str(folder / "calls"), "CXX": compiler, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        kept = {name: value for name, value in os.environ.items() if name != "CC"}
        subprocess.run(["bash", "-c", program], cwd=folder, env=kept | variables, check=True, timeout=60)
    return (folder / "calls").read_text().splitlines()


def test_another_compiler_configures_the_folder_anew(tmp_path: Path) -> None:
    plain = "-S . -B build/dev -G Ninja -DA=ON"
    assert cmake_calls(tmp_path, "", "", "g++-14", "g++-14", "") == [
        f": {plain}",
        f"g++-14: --fresh {plain}",
        f": --fresh {plain}",
    ]


def test_what_failed_tests_say_is_listed_once_more(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text(
        '<testsuite tests="3" failures="2" skipped="0"><testcase classname="a.b" name="good"/>'
        '<testcase classname="a.b" name="red"><failure message="short">assert 1 == 2</failure></testcase>'
        '<testcase classname="c" name="C.Red"><failure message=""/><system-out>expected 3</system-out></testcase></testsuite>'
    )
    command = f'. {ROOT}/tools/dev/test.sh; passed=0 failed=0 skipped=0 failures={tmp_path}/failures; count_junit {results}; echo $passed $failed'
    done = subprocess.run(["bash", "-euc", command], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["1", "2"]
    listed = (tmp_path / "failures").read_text().splitlines()
    assert listed == ["failed: a.b red", "    assert 1 == 2", "failed: c C.Red", "    expected 3"]
