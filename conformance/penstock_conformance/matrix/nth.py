"""The Nth request of an operation fails, for N = 1, 2, ... until the operation has fewer than N requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from .cells import PLANTED
from .judge import DEADLINE_S, DEFECTS, Outcome, judge, within
from .trials import Environment, Operation

#: Fault actions by name.
FAILURES: dict[str, dict[str, Any]] = {
    "503": {"slow_down": {}},
    "reset before the response": {"reset": {}, "at": "headers"},
    "reset in the request body": {"reset": {}, "at": "body_in@40"},
    "reset in the response body": {"truncate": {"mode": "reset"}, "at": "body_out@40"},
    "response lost": {"reset": {}, "at": "after_commit"},
}
#: Maximum attempts of the client, and whether all requests from the Nth on fail.
KINDS: dict[str, tuple[int, bool]] = {"transient": (10, False), "persistent": (1, False), "all from the Nth": (2, True)}
MAX_REQUESTS = 60


@dataclasses.dataclass(frozen=True)
class Survival:
    """The run for one N."""

    n: int
    fired: int
    requests: int
    outcome: Outcome


def nth_request_fails(environment: Environment, operation: Operation, size: str, failure: str, kind: str) -> Iterator[Survival]:
    """Runs the operation for each N. No fault occurs in the last run.

    Raises:
        AssertionError: the operation sends more than MAX_REQUESTS requests.
    """
    attempts, later_too = KINDS[kind]
    journal, faults = environment.emulator.journal(), environment.emulator.faults()
    for n in range(1, MAX_REQUESTS + 1):
        environment.config = dataclasses.replace(environment.config, max_attempts=attempts)
        trial = operation.begin(environment, size)
        mark = journal.last
        limit = {} if later_too else {"limit": {"times": 1}}
        when = {"nth": f">={n}" if later_too else n}
        faults.set([{"id": PLANTED, "when": when, "do": FAILURES[failure], "must_fire": False, **limit}])
        end = within(DEADLINE_S, trial.run)
        fired, requests = faults.account().fired, journal.count(after=mark)
        faults.clear(forget=True)
        verdict, note = judge(environment, trial, mark, *end) if end else ("hang", "")
        name = f"{operation.name}/{size}/{failure}/{kind}/{n}"
        yield Survival(n, fired, requests, Outcome(name, verdict, fired, requests, 0.0, note))
        if requests < n or verdict in DEFECTS:
            return
    raise AssertionError(f"{operation.name}: more than {MAX_REQUESTS} requests")
