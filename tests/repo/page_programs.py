"""The Python programs of a page of docs/."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from penstock.testing import Emulator

DOCS = Path(__file__).resolve().parents[2] / "docs"


def programs_of(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)


def shown(page: str, command: str) -> str:
    """The output that a page shows below `$ command`, the first time."""
    found = re.search(rf"^\$ {re.escape(command)}\n((?:(?!\$ |```).*\n)*)", (DOCS / page).read_text(), re.M)
    assert found, f"{page} does not show {command}"
    return found[1]


def printed_numbers(page: str, folder: Path, emulator: Emulator) -> list[list[int]]:
    """Runs each program of a page as a file in `folder`, against the emulator. Returns the numbers that each prints."""
    printed = []
    for number, program in enumerate(programs_of(page)):
        file = folder / f"program_{number}.py"
        file.write_text(program)
        done = subprocess.run(
            [sys.executable, str(file)],
            env=dict(os.environ) | emulator.environment(), capture_output=True, text=True, timeout=150, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        printed.append([int(count) for count in done.stdout.split()])
    return printed
