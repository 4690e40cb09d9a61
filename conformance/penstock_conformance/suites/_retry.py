"""Retries as a suite: one check per verb, which injects each failure once and checks the requests in the emulator's journal."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._bench import Bench
from .._suite import Check, Suite, Trial
from .._verdict import NotRun
from ..retry.rules import FAILURES, VERBS, Failure, Rule, Verb, applies, rule
from ..retry.verbs import DONE, OF_CLIENT, READS, Fixture, Verbs
from ._directory_bucket import ZONE

SAMPLE = 6  # failures per verb, unless the run is thorough
MAX_ATTEMPTS = 10
CONDITIONAL_WRITES = ("PutObject, If-None-Match", "PutObject, If-Match")

suite = Suite(
    "retry",
    "Retries",
    "For each verb and failure: whether the client must, may or must not retry, and what it reports to the caller.",
)


@dataclasses.dataclass
class Attempted:
    """How a client handled one failure."""

    failure: Failure
    bucket: str
    fixture: Fixture
    error: str = ""
    value: Any = None
    requests: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    @property
    def outcome(self) -> str:
        return "error" if self.error else "done"


@suite.generate
def _checks(bench: Bench) -> Iterator[Check]:
    del bench
    for verb in VERBS:
        name = re.sub("[^a-z]+", "-", re.sub("([a-z])([A-Z])", r"\1-\2", verb.name).lower()).strip("-")
        yield Check(
            name, f"{verb.name} is retried after failures that require it, and not after those that forbid it", _run(verb)
        )


def _run(verb: Verb) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        kind = OF_CLIENT.get(trial.client.name)
        if kind is None:
            raise NotRun(f"supports the clients {', '.join(OF_CLIENT)}")
        trial.admin_for("faults")
        verbs = kind(trial.bench.access)
        try:
            fixture = _fixture(trial, verb)
            verbs.call(verb.name, fixture)
        except NotImplementedError:
            raise NotRun(f"{trial.client.name} has no {verb.name}") from None
        if verb.name in CONDITIONAL_WRITES:
            _expect_refused(trial, verb, verbs, fixture)
        failures = trial.sample([failure for failure in FAILURES if applies(verb, failure)], SAMPLE)
        attempted = _attempt(trial, verbs, verb, failures)
        for one in attempted:
            with trial.case(one.failure.name):
                _judge(trial, verb, one, rule(verb, one.failure))
        rows = [[one.failure.about, rule(verb, one.failure).retry, len(one.requests), one.outcome] for one in attempted]
        trial.table(verb.name, ["failure", "retry", "requests", "reported to the caller"], rows)
        trial.evidence(
            verb=verb.name, attempts={one.failure.name: len(one.requests) for one in attempted},
            told={one.failure.name: one.error or "done" for one in attempted},
        )  # fmt: skip

    return run


def _expect_refused(trial: Trial, verb: Verb, verbs: Verbs, fixture: Fixture) -> None:
    """The verb has been executed, so its condition no longer holds."""
    try:
        verbs.call(verb.name, fixture)
    except Exception:
        return
    trial.expect(False, f"{verb.name} succeeded although its condition does not hold")


def _fixture(trial: Trial, verb: Verb) -> Fixture:
    fixture = Fixture(trial.bench.access, trial.bench.new_bucket(f"--{ZONE}--x-s3") if verb.directory else trial.bucket())
    fixture.prepare(verb.name)
    return fixture


def _attempt(trial: Trial, verbs: Verbs, verb: Verb, failures: Sequence[Failure]) -> list[Attempted]:
    """Injects all failures concurrently, each in its own bucket."""
    fixtures = [_fixture(trial, verb) for _ in failures]
    attempted = [Attempted(failure, fixture.bucket, fixture) for failure, fixture in zip(failures, fixtures, strict=True)]
    mark = trial.admin.last_entry()
    trial.admin.set_faults(
        [
            {
                "id": one.failure.name,
                "when": {"bucket": {"exactly": one.bucket}, "operation": verb.operation},
                "do": one.failure.do,
                "limit": {"times": 1},
            }
            for one in attempted
        ]
    )

    def call(one: Attempted) -> None:
        try:
            one.value = verbs.call(verb.name, one.fixture)
        except Exception as error:
            one.error = f"{type(error).__name__}: {error}"[:300]

    try:
        with ThreadPoolExecutor(len(attempted)) as threads:
            list(threads.map(call, attempted))
        fired = {each["id"]: each["fired"] for each in trial.admin.request("GET", f"faults/{trial.admin.namespace}")["rules"]}
    finally:
        trial.admin.clear_faults()
    for one in attempted:
        trial.expect(fired[one.failure.name] == 1, f"{one.failure.name}: the failure was not injected")
        asked = {"question": "entries", "filter": {"bucket": one.bucket, "operations": [verb.operation], "after": mark}}
        one.requests = trial.admin.request("POST", f"journal-query/{trial.admin.namespace}", asked)["entries"]
    return attempted


def _judge(trial: Trial, verb: Verb, one: Attempted, expected: Rule) -> None:
    count = len(one.requests)
    done = DONE[verb.name](one.fixture) if verb.name in DONE else True
    right = one.value == READS[verb.name] if verb.name in READS and not one.error else True
    trial.expect(count <= MAX_ATTEMPTS, f"{count} requests")
    if expected.retry == "must":
        trial.expect(count > 1, f"was not retried ({one.error or 'done'})")
    if expected.retry == "must not":
        trial.expect(count == 1, f"was retried: {count} requests ({expected.why})")
    if expected.done is True:
        trial.expect(not one.error, f"the caller got the error {one.error}")
    if expected.done is False:
        trial.expect(one.error, "success was reported to the caller")
    trial.expect(right, f"wrong data was read: {one.value!r}"[:200])
    trial.expect(one.error or done, "success was reported to the caller, but the operation was not executed")
    invocations = {request["invocation"] for request in one.requests if request.get("attempt", 1) > 1}
    first = {request.get("invocation", "") for request in one.requests if request.get("attempt", 1) == 1}
    trial.expect(invocations <= first, "attempts of one call have different amz-sdk-invocation-ids")
    one.fixture.clear()
