"""The build backend accepts pyproject.toml: the metadata of a wheel can be made."""

from __future__ import annotations

import subprocess
import sys
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_wheel_metadata(tmp_path):
    """Two settings for licence files once made every `pip install .` end in an assertion."""
    program = "import scikit_build_core.build as b, sys; print(b.prepare_metadata_for_build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    metadata = Parser().parsestr(next(tmp_path.glob("*.dist-info/METADATA")).read_text())
    assert metadata["Name"] == "penstock"
    assert metadata["Version"] == (ROOT / "VERSION").read_text().strip()
    assert metadata["License-Expression"] == "Apache-2.0"
