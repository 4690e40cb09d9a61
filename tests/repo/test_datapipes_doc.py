"""Each Python program of docs/datapipes.md runs and prints what its text says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from penstock.testing import Emulator

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/datapipes.md").read_text(), re.M | re.S)


def test_the_programs_run(tmp_path: Path) -> None:
    printed = []
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket("my-bucket")
        for number in range(10):
            with client.put_object("my-bucket", f"train/{number}.txt") as writer:
                writer.write(b"a line\n")
        for number, program in enumerate(PROGRAMS):
            file = tmp_path / f"program_{number}.py"
            file.write_text(program)
            done = subprocess.run(
                [sys.executable, str(file)],
                env=dict(os.environ) | emulator.environment(), capture_output=True, text=True, timeout=150, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            printed.append([int(count) for count in done.stdout.split()])
    lines, nodes = printed
    assert sum(lines) == 10  # sharded: each line once
    assert nodes == [4, 6]
