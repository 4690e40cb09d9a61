"""The Python programs of docs/how-to/testing.md and of the tutorials about tests run, with the described results."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_programs import programs_of

PROGRAMS = programs_of("how-to/testing.md")
TIMEOUT_S = 120


def run_suite(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "penstock_emulator.pytest_plugin", "-q", str(folder)]
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=folder,
        check=False,
        env=os.environ | {"PYTHONPATH": paths},
    )


def test_the_program_of_the_guide_to_credential_chains_passes(tmp_path):
    [program] = programs_of("how-to/credential-chains.md")
    (tmp_path / "test_chains.py").write_text(program)
    passed = run_suite(tmp_path)
    assert "2 passed" in passed.stdout, passed.stdout


def test_the_programs_of_the_first_test_pass(tmp_path):
    code, test = programs_of("tutorials/first-test.md")
    (tmp_path / "reports.py").write_text(code)
    (tmp_path / "test_reports.py").write_text(test)
    passed = run_suite(tmp_path)
    assert "2 passed" in passed.stdout, passed.stdout


def test_the_programs_of_the_first_fault_test_have_the_described_results(tmp_path):
    code, test, fault, fixed = programs_of("tutorials/first-fault-test.md")
    (tmp_path / "claims.py").write_text(code)
    (tmp_path / "test_claims.py").write_text(test)
    passed = run_suite(tmp_path)
    assert "1 passed" in passed.stdout, passed.stdout

    (tmp_path / "test_claims.py").write_text(f"{test}\n\n{fault}")
    failed = run_suite(tmp_path)
    assert "1 failed, 1 passed" in failed.stdout, failed.stdout
    assert "ack-lost: fired 1 times, matched 2" in failed.stdout
    assert re.search(r"PUT /bucket-\d+/claims/job-1 -> 200 .*faults ack-lost, broken\)", failed.stdout), failed.stdout
    assert re.search(r"PUT /bucket-\d+/claims/job-1 -> 412 PreconditionFailed", failed.stdout), failed.stdout

    (tmp_path / "claims.py").write_text(fixed)
    passed = run_suite(tmp_path)
    assert "2 passed" in passed.stdout, passed.stdout


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_every_program_of_the_guide_passes(tmp_path, number):
    (tmp_path / "test_program.py").write_text(PROGRAMS[number])
    done = run_suite(tmp_path)
    assert " passed" in done.stdout, done.stdout
    assert done.returncode == 0, done.stdout


def test_the_guide_has_programs():
    assert len(PROGRAMS) > 3
