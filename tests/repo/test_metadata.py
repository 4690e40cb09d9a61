"""The build backend accepts pyproject.toml and creates the metadata of a wheel."""

from __future__ import annotations

import subprocess
import sys
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_build_backend_creates_the_metadata_of_the_wheel(tmp_path):
    """Two settings for licence files used to make every `pip install .` fail with an assertion."""
    program = "import scikit_build_core.build as b, sys; print(b.prepare_metadata_for_build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    metadata = Parser().parsestr(next(tmp_path.glob("*.dist-info/METADATA")).read_text())
    assert metadata["Name"] == "penstock"
    assert metadata["Version"] == (ROOT / "VERSION").read_text().strip()
    assert metadata["License-Expression"] == "Apache-2.0"
