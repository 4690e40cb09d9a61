"""The main job as a user starts it, in small: kill, resume, table, report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("fail_rate", ["0", "0.05"])
def test_demo_resumes_and_reports(tmp_path, fail_rate):
    command = [sys.executable, str(ROOT / "examples/demo/demo.py"), "--steps", "24", "--save-every", "6"]
    done = subprocess.run(
        [*command, "--fail-rate", fail_rate],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "killed the training process (SIGKILL)" in done.stderr
    assert "with the checkpoint's loss" in done.stderr
    assert "requests: GetObject" in done.stdout
    report = (tmp_path / "demo-report.html").read_text()
    assert report.count('src="data:image/png;base64,') == 2
    retries = next(line for line in done.stdout.splitlines() if "retries" in line)
    assert (" 0 (answers" in retries) == (fail_rate == "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-rate", "2"], "--fail-rate is 2.0"),
        (["--steps", "80"], "--steps is 80"),
        (["--fail-rate", "0.1", "--endpoint", "http://127.0.0.1:1"], "cannot be used with --endpoint"),
    ],
)
def test_bad_options_are_named(tmp_path, arguments, message):
    command = [sys.executable, str(ROOT / "examples/demo/demo.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr
