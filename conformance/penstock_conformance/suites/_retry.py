"""Retries as a suite: a check for each verb, in which each failure meets it once; judged by the emulator's journal."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._bench import Bench
from .._suite import Check, NotRun, Suite, Trial
from ..retry.rules import FAILURES, VERBS, Failure, Rule, Verb, applies, rule
from ..retry.verbs import DONE, OF_CLIENT, READS, Scene, Verbs
from ._directory_bucket import ZONE

SAMPLE = 6  # failures of each verb that a run which is not thorough takes
MOST_ATTEMPTS = 10
UNDER_A_CONDITION = ("PutObject, If-None-Match", "PutObject, If-Match")

suite = Suite(
    "retry",
    "What is asked again, and what is not",
    "Verb by verb and failure by failure, each once: what must be tried again, may be, and must not, and what comes of it.",
)


@dataclasses.dataclass
class Attempted:
    """What a client did about one failure."""

    failure: Failure
    bucket: str
    scene: Scene
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
        yield Check(name, f"{verb.name} is tried again where it must be, and nowhere else", _of(verb))


def _of(verb: Verb) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        kind = OF_CLIENT.get(trial.client.name)
        if kind is None:
            raise NotRun(f"knows the verbs of {', '.join(OF_CLIENT)}")
        trial.admin_for("faults")
        verbs = kind(trial.bench.access)
        try:
            scene = _scene(trial, verb)
            verbs.call(verb.name, scene)
        except NotImplementedError:
            raise NotRun(f"{trial.client.name} has no {verb.name}") from None
        if verb.name in UNDER_A_CONDITION:
            _expect_refused(trial, verb, verbs, scene)
        failures = trial.sample([failure for failure in FAILURES if applies(verb, failure)], SAMPLE)
        attempted = _attempt(trial, verbs, verb, failures)
        for one in attempted:
            with trial.case(one.failure.name):
                _judge(trial, verb, one, rule(verb, one.failure))
        rows = [[one.failure.about, rule(verb, one.failure).retry, len(one.requests), one.outcome] for one in attempted]
        trial.table(verb.name, ["failure", "ask again", "requests", "the caller is told"], rows)
        trial.evidence(
            verb=verb.name, attempts={one.failure.name: len(one.requests) for one in attempted},
            told={one.failure.name: one.error or "done" for one in attempted},
        )  # fmt: skip

    return run


def _expect_refused(trial: Trial, verb: Verb, verbs: Verbs, scene: Scene) -> None:
    """The verb has been done, and thereby its condition holds no more."""
    try:
        verbs.call(verb.name, scene)
    except Exception:
        return
    trial.expect(False, f"{verb.name} was done where its condition does not hold")


def _scene(trial: Trial, verb: Verb) -> Scene:
    scene = Scene(trial.bench.access, trial.bench.new_bucket(f"--{ZONE}--x-s3") if verb.directory else trial.bucket())
    scene.prepare(verb.name)
    return scene


def _attempt(trial: Trial, verbs: Verbs, verb: Verb, failures: Sequence[Failure]) -> list[Attempted]:
    """All failures side by side, each in a bucket of its own."""
    scenes = [_scene(trial, verb) for _ in failures]
    attempted = [Attempted(failure, scene.bucket, scene) for failure, scene in zip(failures, scenes, strict=True)]
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
            one.value = verbs.call(verb.name, one.scene)
        except Exception as error:
            one.error = f"{type(error).__name__}: {error}"[:300]

    try:
        with ThreadPoolExecutor(len(attempted)) as threads:
            list(threads.map(call, attempted))
        fired = {each["id"]: each["fired"] for each in trial.admin.ask("GET", f"faults/{trial.admin.namespace}")["rules"]}
    finally:
        trial.admin.clear_faults()
    for one in attempted:
        trial.expect(fired[one.failure.name] == 1, f"{one.failure.name}: the failure did not happen")
        asked = {"question": "entries", "filter": {"bucket": one.bucket, "operations": [verb.operation], "after": mark}}
        one.requests = trial.admin.ask("POST", f"journal-query/{trial.admin.namespace}", asked)["entries"]
    return attempted


def _judge(trial: Trial, verb: Verb, one: Attempted, expected: Rule) -> None:
    count = len(one.requests)
    done = DONE[verb.name](one.scene) if verb.name in DONE else True
    right = one.value == READS[verb.name] if verb.name in READS and not one.error else True
    trial.expect(count <= MOST_ATTEMPTS, f"{count} requests")
    if expected.retry == "must":
        trial.expect(count > 1, f"was not tried again ({one.error or 'done'})")
    if expected.retry == "must not":
        trial.expect(count == 1, f"was tried again: {count} requests ({expected.why})")
    if expected.done is True:
        trial.expect(not one.error, f"the caller was told {one.error}")
    if expected.done is False:
        trial.expect(one.error, "the caller was told that it was done")
    trial.expect(right, f"something else was read: {one.value!r}"[:200])
    trial.expect(one.error or done, "the caller was told that it was done, and it is not")
    invocations = {request["invocation"] for request in one.requests if request.get("attempt", 1) > 1}
    first = {request.get("invocation", "") for request in one.requests if request.get("attempt", 1) == 1}
    trial.expect(invocations <= first, "a second attempt has another amz-sdk-invocation-id than the first")
    one.scene.clear()
