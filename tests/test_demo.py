"""The demo with few steps: it kills and resumes a training process, prints a table and writes a report."""

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
    assert (" 0 (503 responses" in retries) == (fail_rate == "0")
    rows = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert all(line[1:].split("│")[0].strip() for line in rows), "a row wraps at 80 columns:\n" + done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-rate", "2"], "--fail-rate must be at least 0 and less than 1, not 2.0"),
        (["--steps", "80"], "--steps is 80"),
        (["--fail-rate", "0.1", "--endpoint", "http://127.0.0.1:1"], "cannot be used with --endpoint"),
    ],
)
def test_bad_options_are_named(tmp_path, arguments, message):
    command = [sys.executable, str(ROOT / "examples/demo/demo.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("endpoint", "environment", "message"),
    [
        ("http://127.0.0.1:1", {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}, "connection refused by 127.0.0.1:1"),
        (
            "127.0.0.1:9000",
            {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"},
            "does not start with http:// or https://",
        ),
        ("http://127.0.0.1:1", {}, "no credentials found"),
    ],
)
def test_an_unusable_s3_is_reported_in_one_line(tmp_path, endpoint, environment, message):
    command = [sys.executable, str(ROOT / "examples/demo/demo.py"), "--endpoint", endpoint]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    elsewhere = {"AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_EC2_METADATA_DISABLED": "true"}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**clean, **elsewhere, "AWS_MAX_ATTEMPTS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("S3 at ")
    assert len(lines) == 2, done.stderr
    assert message in lines[1]
