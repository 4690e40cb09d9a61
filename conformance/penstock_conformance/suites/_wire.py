"""The wire cases: a check for each case of `wire/cases`, and one for each law."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .._access import Access
from .._bench import Bench
from .._suite import Check, Suite, Trial
from .._verdict import Failed, NotRun
from ..wire.cases import Case, load
from ..wire.laws import LAWS, Law
from ..wire.runner import Report, Runner
from ..wire.signing import Identity


class WireRun:
    """The runner for the cases, and the results of the laws so far."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.seen = Report()


@contextmanager
def _open(bench: Bench) -> Iterator[WireRun]:
    second = _identity(bench.second) if bench.second else None
    runner = Runner(bench.access.endpoint, _identity(bench.access), bench.access.region, second, bench.access.ca)
    try:
        yield WireRun(runner)
    finally:
        runner.close()


def _identity(access: Access) -> Identity:
    return Identity(access.access_key, access.secret_key)


suite = Suite(
    "wire",
    "S3's responses on the wire",
    "Requests, expected responses, and the source of each expectation: recordings, documentation, RFCs, other servers.",
    judges="server",
    resource=_open,
)


@suite.generate
def _checks(bench: Bench) -> Iterator[Check]:
    for case in load():
        yield Check(case.name, f"{case.provenance}: {case.source}", _of_case(case))
    for law in LAWS:
        yield Check(f"law/{law.name.replace(' ', '-')}", f"{law.provenance}: {law.name}", _of_law(law))


def _of_case(case: Case) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        wire: WireRun = trial.resource
        verdict = wire.runner.judge(case, wire.seen)
        trial.evidence(provenance=case.provenance)
        if verdict.not_run:
            raise NotRun(verdict.not_run)
        trial.verdict.problems += verdict.problems

    return run


def _of_law(law: Law) -> Callable[[Trial], None]:
    """Judges the responses of the cases that ran before it."""

    def run(trial: Trial) -> None:
        seen: Report = trial.resource.seen
        trial.evidence(responses=seen.laws_checked[law.name])
        if not seen.laws_checked[law.name]:
            raise NotRun("no case of this run has a response to check")
        if broken := seen.laws_broken.get(law.name, []):
            raise Failed(f"violated by {len(broken)} of {seen.laws_checked[law.name]} responses, such as {'; '.join(broken[:5])}")

    return run
