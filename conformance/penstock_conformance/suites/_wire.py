"""The cases of `wire/cases`: a check for each, and one for each law that all answers obey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .._bench import Access, Bench
from .._suite import Check, Failed, NotRun, Suite, Trial
from ..wire.cases import Case, load
from ..wire.laws import LAWS, Law
from ..wire.runner import Report, Runner
from ..wire.signing import Identity


class Judge:
    """The runner of this bench's cases, and what it has seen of the laws."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.seen = Report()


@contextmanager
def _judge(bench: Bench) -> Iterator[Judge]:
    second = _identity(bench.second) if bench.second else None
    runner = Runner(bench.access.endpoint, _identity(bench.access), bench.access.region, second, bench.access.ca)
    try:
        yield Judge(runner)
    finally:
        runner.close()


def _identity(access: Access) -> Identity:
    return Identity(access.access_key, access.secret_key)


suite = Suite(
    "wire",
    "S3's answers on the wire",
    "One request, one answer, and where the answer is known from: recordings, documents, RFCs, other servers.",
    judges="server",
    resource=_judge,
)


@suite.generate
def _checks(bench: Bench) -> Iterator[Check]:
    for case in load():
        yield Check(case.name, f"{case.provenance}: {case.source}", _of_case(case))
    for law in LAWS:
        yield Check(f"law/{law.name.replace(' ', '-')}", f"{law.provenance}: {law.name}", _of_law(law))


def _of_case(case: Case) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        judge: Judge = trial.resource
        verdict = judge.runner.judge(case, judge.seen)
        trial.evidence(provenance=case.provenance)
        if verdict.not_run:
            raise NotRun(verdict.not_run)
        trial.verdict.problems += verdict.problems

    return run


def _of_law(law: Law) -> Callable[[Trial], None]:
    """Over the answers of the cases that were run before it."""

    def run(trial: Trial) -> None:
        seen: Report = trial.resource.seen
        trial.evidence(answers=seen.laws_checked[law.name])
        if not seen.laws_checked[law.name]:
            raise NotRun("no case was run whose answer it could be held against")
        if broken := seen.laws_broken.get(law.name, []):
            raise Failed(f"{len(broken)} of {seen.laws_checked[law.name]} answers broke it, such as {'; '.join(broken[:5])}")

    return run
