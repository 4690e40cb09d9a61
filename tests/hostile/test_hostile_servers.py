"""Hostile and broken servers against our client: the right bytes or a clear error, within time and memory.

One client process runs all cases of `hostile_http` and `hostile_s3`, each against its own raw server. For each
case the client returns the right value or raises an exception whose class and text name the cause. It ends within its
deadlines. Its errors are one short line without secrets. The next request gets its own response, on a new connection if the
framing was wrong. Endless responses do not increase the memory of the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hostile_http import cases_one_by_one, http_cases
from hostile_s3 import s3_cases

TIMEOUT_S = 500


@cache
def outcomes() -> tuple[dict[str, Any], str]:
    """The outcome of each case by its name, and the exit status."""
    command = [sys.executable, str(Path(__file__).with_name("hostile_servers_worker.py"))]
    environment = {**os.environ, "PENSTOCK_HEDGE_READS": "false"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
    found = [json.loads(line) for line in output.splitlines()]
    return {outcome["name"]: outcome for outcome in found}, f"exit status {process.returncode}"


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("name", [case.name for case in [*http_cases(), *s3_cases(), *cases_one_by_one()]])
def test_the_client_survives_a_hostile_server(name: str) -> None:
    by_name, end = outcomes()
    assert name in by_name, f"the client process ended before this case: {end}"
    assert not by_name[name]["faults"], by_name[name]


def test_cases_have_unique_names_and_a_source() -> None:
    cases = [*http_cases(), *s3_cases(), *cases_one_by_one()]
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.source for case in cases)
