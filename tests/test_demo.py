"""The demo with few steps: it kills and resumes a training process, prints a table and writes a report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def parts_of_a_checkpoint(folder: Path) -> int:
    """Parts of the last checkpoint, which was saved completely, according to the client's trace."""
    lines = [json.loads(line) for line in (folder / "demo-out/trace.jsonl").read_text().splitlines()]
    return sum(line["operation"] == "UploadPart" and line["status"] == 200 and line["key"].endswith("24.pt") for line in lines)


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
    assert "killed the training (SIGKILL) during the multipart upload of step 12's" in done.stderr
    assert "  complete checkpoints: step-00000006.pt\n" in done.stderr
    shown = re.search(r"  incomplete upload: step-00000012.pt, parts: (\d), [\d.]+ MB\n", done.stderr)
    assert shown is not None
    assert 1 <= int(shown[1]) < parts_of_a_checkpoint(tmp_path)
    assert "  aborted it: 0 incomplete uploads left\n" in done.stderr
    assert "resumed from step 6 with the checkpoint's loss" in done.stderr
    assert "requests: GetObject" in done.stdout
    report = (tmp_path / "demo-report.html").read_text()
    assert report.count('src="data:image/png;base64,') == 2
    retries = next(line for line in done.stdout.splitlines() if "retries" in line)
    assert (" 0 (503 responses" in retries) == (fail_rate == "0")
    failed = next(line for line in done.stdout.splitlines() if "failed attempts" in line)
    assert (failed.split()[-2] == "0") == (fail_rate == "0")
    rows = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert all(line[1:].split("│")[0].strip() for line in rows), "a row wraps at 80 columns:\n" + done.stdout


@pytest.mark.parametrize(
    ("operation", "status", "code", "failed"),
    [
        ("GetObject", 206, "", "0"),
        ("GetObject", 416, "InvalidRange", "0"),  # an empty object
        ("CreateBucket", 409, "BucketAlreadyOwnedByYou", "0"),
        ("GetObject", 0, "cancelled", "0"),  # the slower request of a hedged read
        ("PutObject", 416, "InvalidRange", "1"),
        ("CreateBucket", 409, "BucketAlreadyExists", "1"),
        ("GetObject", 503, "SlowDown", "1"),
        ("GetObject", 0, "connection", "1"),
    ],
)
def test_only_attempts_that_went_wrong_count_as_failed(monkeypatch, operation, status, code, failed):
    monkeypatch.syspath_prepend(str(ROOT / "examples/demo"))
    report = pytest.importorskip("report")
    step = {"event": "step", "pid": 1, "bytes": 1, "objects": 1}
    run = report.Run(
        metrics=[step | {"time": 1.0}, step | {"time": 2.0}, {"event": "finished", "loss": 1.0}],
        trace=[{"operation": operation, "status": status, "code": code, "attempt": 1, "bytes_received": 0}],
        started=0.0,
        killed=1.0,
        killed_at=1,
        incomplete=report.Incomplete("key", "id", 1, 1),
        resume={"step": 1, "seconds": 1.0, "saved_probe_loss": 1.0, "probe_loss": 1.0},
        uploaded=(1, 1, 1.0),
        fail_rate=0.0,
        endpoint="http://127.0.0.1:9000",
    )
    assert dict(report.rows(run))["failed attempts"] == failed


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
