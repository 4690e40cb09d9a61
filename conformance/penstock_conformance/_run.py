"""Runs suites and collects the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from penstock_emulator.offline_environment import environment_set

from ._access import Access
from ._bench import Bench
from ._report import Report
from ._suite import Check, Suite, Trial
from ._verdict import Failed, NotRun, Verdict
from .clients import Client

MAX_PROBLEMS = 20  # problems of one check that a report lists


def run(
    suites: Iterable[Suite],
    bench: Bench,
    clients: Sequence[Callable[[Access], Client]] = (),
    *,
    only: Sequence[str] = (),
    on_verdict: Callable[[Verdict], None] = lambda verdict: None,
    report: Report | None = None,
) -> Report:
    """Runs suites. Suites that judge clients run once per client, the others once.

    Args:
        suites: Run in this order.
        bench: The endpoint.
        clients: Factories; each suite gets new instances, which connect to the proxy.
        only: Run only checks whose ``suite/check`` contains one of these; empty: all.
        on_verdict: Called after each check.
        report: Each verdict is appended to it after its check, so that an interrupted run has a report. None: a new one.

    Raises:
        ValueError: a client cannot be created.
    """
    report = report or Report(bench.access.endpoint, bench.seed, bench.thorough)
    under_test = bench.access.at(bench.proxy.endpoint)
    with ExitStack() as stack:
        stack.enter_context(environment_set(under_test.environment()))
        for suite in suites:
            report.suites.append(suite)
            chosen = [check for check in suite.checks(bench) if _chosen(f"{suite.name}/{check.name}", only)]
            if not chosen:
                continue
            with suite.open(bench) as resource:
                for make in clients if suite.judges == "client" else (None,):
                    client = _create(make, under_test) if make else None
                    if client:
                        report.clients[client.name] = client.version
                    for check in chosen:
                        verdict = _run_check(suite, check, bench, client, resource)
                        report.verdicts.append(verdict)
                        on_verdict(verdict)
    return report


def _create(make: Callable[[Access], Client], access: Access) -> Client:
    """Raises OSError, an error of the run and not of a check, if the client cannot be created."""
    try:
        return make(access)
    except (Exception, NotRun, SystemExit) as error:
        name = getattr(make, "__name__", repr(make))
        raise OSError(f"cannot create the client {name}: {type(error).__name__}: {error}") from error


def _chosen(name: str, only: Sequence[str]) -> bool:
    return not only or any(pattern in name for pattern in only)


def _run_check(suite: Suite, check: Check, bench: Bench, client: Client | None, resource: Any) -> Verdict:
    verdict = Verdict(suite.name, check.name, check.claim, client.name if client else "")
    trial = Trial(bench, verdict, client, resource)
    began = time.monotonic()
    bench.proxy.forget()
    try:
        check.run(trial)
    except NotRun as missing:
        verdict.reason = str(missing)
    except Failed as failed:
        verdict.problems.append(str(failed))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # includes SystemExit and torch's CheckpointException, which derives from BaseException
        verdict.problems.append(f"{type(error).__name__}: {error}")
    finally:
        bench.clean_up()
    verdict.seconds = time.monotonic() - began
    verdict.outcome = "failed" if verdict.problems else "not run" if verdict.reason else "passed"
    if len(verdict.problems) > MAX_PROBLEMS:
        omitted = len(verdict.problems) - MAX_PROBLEMS
        verdict.problems[MAX_PROBLEMS:] = [f"and {omitted} further problems"]
    return verdict
