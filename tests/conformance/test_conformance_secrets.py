"""Credentials are not on the command lines of child processes, which all users of a machine can read."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from penstock_conformance import Access, Bench, run, suites
from penstock_conformance.clients import find


@pytest.fixture
def command_lines(monkeypatch):
    """Command lines of all child processes."""
    seen: list[str] = []

    class Watched(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            until = time.monotonic() + 10
            while not (line := Path(f"/proc/{self.pid}/cmdline").read_text()) and time.monotonic() < until:
                time.sleep(0.001)  # empty until exec
            seen.append(line)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return seen


@pytest.mark.timeout(300)
def test_the_ranks_of_a_process_group_have_no_credentials_on_their_command_lines(standalone, command_lines):
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access) as bench:
        [verdict] = run([suites.find("sharding")], bench, [find("penstock")], only=["process-group"]).verdicts
    assert (verdict.outcome, verdict.problems) == ("passed", [])
    ranks = [line for line in command_lines if "_rank_process" in line]
    assert len(ranks) == 2
    assert [line for line in ranks if standalone.secret_key in line or standalone.access_key in line] == []
