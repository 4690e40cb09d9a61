"""The build backend accepts pyproject.toml, and the distributions contain what they need."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def build_backend(hook, folder, source=ROOT):
    program = "import scikit_build_core.build as b, sys; print(getattr(b, sys.argv[1])(sys.argv[2]))"
    command = [sys.executable, "-c", program, hook, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("source", "name", "requires"),
    [
        (".", "penstock", []),
        ("packaging/emulator", "penstock-emulator", []),
        ("conformance", "penstock-conformance", ["boto3", "penstock", "penstock-emulator"]),
    ],
)
def test_wheel_metadata(tmp_path, source, name, requires):
    """Two settings for licence files once made every `pip install .` end in an assertion."""
    build_backend("prepare_metadata_for_build_wheel", tmp_path, ROOT / source)
    metadata = Parser().parsestr(next(tmp_path.glob("*.dist-info/METADATA")).read_text())
    assert metadata["Name"] == name
    assert metadata["Version"] == (ROOT / "VERSION").read_text().strip()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"  # PyPI shows the README; `twine check --strict` needs one
    assert metadata.get_payload().startswith(f"# {metadata['Name'].replace('penstock', 'Penstock', name == 'penstock')}\n")
    assert [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line] == requires


def test_the_source_distribution_has_the_package_and_what_cmake_needs(tmp_path):
    build_backend("build_sdist", tmp_path)
    [archive] = tmp_path.glob("penstock-*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert names >= {"bindings/python/penstock/__init__.py", "conformance/CMakeLists.txt", "bindings/core/client/module.cc"}
    console = ROOT / "build/console/dist"
    built = {path.relative_to(ROOT).as_posix() for path in console.rglob("*.*")}
    assert (console / "index.html").is_file(), "./dev console builds the page"
    assert names >= built, "the emulator of a source distribution has the web console too"
    assert {name for name in names if name.startswith("build/")} <= built | {"build", "build/console"}
