"""The build backend accepts pyproject.toml, and the distributions contain what they need."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build_backend(hook, folder):
    program = "import scikit_build_core.build as b, sys; print(getattr(b, sys.argv[1])(sys.argv[2]))"
    command = [sys.executable, "-c", program, hook, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_wheel_metadata(tmp_path):
    """Two settings for licence files once made every `pip install .` end in an assertion."""
    build_backend("prepare_metadata_for_build_wheel", tmp_path)
    metadata = Parser().parsestr(next(tmp_path.glob("*.dist-info/METADATA")).read_text())
    assert metadata["Name"] == "penstock"
    assert metadata["Version"] == (ROOT / "VERSION").read_text().strip()
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_source_distribution_has_both_packages_and_the_schema_that_the_wheel_installs(tmp_path):
    """Without the schema, a build from the source distribution fails when CMake installs it."""
    build_backend("build_sdist", tmp_path)
    [archive] = tmp_path.glob("penstock-*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    packages = {"bindings/penstock/__init__.py", "conformance/penstock_conformance/__init__.py", "conformance/CMakeLists.txt"}
    assert names >= packages | {"docs/faults.schema.json"}
