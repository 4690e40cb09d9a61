"""Hostile and broken servers against our client, on both data planes: the right bytes or a clear error, in time, within bounds.

Each case of `hostile_http` and `hostile_s3` runs in a client process of its data plane, against a raw server of its own. The
client returns the right value or raises an exception whose class and text name the cause; it ends within its deadlines; its
errors are one short line without secrets; the next request gets its own response, on another connection where the framing was
at fault; endless responses do not make the process grow.
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
PLANES = ("direct", "curl")


@cache
def outcomes(plane: str) -> tuple[dict[str, Any], str]:
    """What became of each case by its name, and how the process ended. The planes' processes run at the same time."""
    if plane not in _running:
        for each in PLANES:
            command = [sys.executable, str(Path(__file__).with_name("hostile_servers_worker.py"))]
            environment = {**os.environ, "PENSTOCK_DATA_PLANE": each, "PENSTOCK_HEDGE_READS": "false"}
            _running[each] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    output, _ = _running[plane].communicate(timeout=TIMEOUT_S)
    found = [json.loads(line) for line in output.splitlines()]
    return {outcome["name"]: outcome for outcome in found}, f"exit status {_running[plane].returncode}"


_running: dict[str, subprocess.Popen[str]] = {}


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("name", [case.name for case in [*http_cases(), *s3_cases(), *cases_one_by_one()]])
@pytest.mark.parametrize("plane", PLANES)
def test_hostile_server(plane: str, name: str) -> None:
    by_name, end = outcomes(plane)
    assert name in by_name, f"the client process ended without it: {end}"
    assert not by_name[name]["faults"], by_name[name]


def test_there_are_cases_of_each_kind() -> None:
    cases = [*http_cases(), *s3_cases(), *cases_one_by_one()]
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.source for case in cases)
