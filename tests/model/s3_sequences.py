"""Random sequences of requests on an endpoint and on the reference model, compared after each step.

A seed determines a sequence. Every step has its own generator and adapts to the current state, so a failing sequence remains
valid when steps are left out. That is how failures are shrunk.

To run it by hand: `python tests/model/s3_sequences.py --endpoint URL --access-key ID --secret-key SECRET --seed 7 --runs 1`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from secrets import token_hex

import s3_list_steps
import s3_object_steps
import s3_upload_steps
from s3_environment import DifferenceError, Environment, texts, xml
from s3_reference import MIN_PART
from s3_wire import Wire

Step = Callable[[Environment, Random], None]
WEIGHTS: dict[Step, float] = {**s3_object_steps.STEPS, **s3_upload_steps.STEPS, **s3_list_steps.STEPS}
NAMES = {f"{step.__module__}.{step.__name__}": step for step in WEIGHTS}
SHORTEST, LONGEST = 15, 45


@dataclass
class Failure:
    """A sequence on which endpoint and model differ."""

    seed: int
    message: str
    steps: list[tuple[str, int]]
    log: list[str]

    def __str__(self) -> str:
        steps = "\n".join(f"  {index:3} {name}" for index, (name, _) in enumerate(self.steps, 1))
        log = "\n".join(f"  {line}" for line in self.log)
        return f"seed {self.seed}: {self.message}\nshrunk to {len(self.steps)} steps:\n{steps}\nrequests:\n{log}"


class Bench:
    """An endpoint on which sequences run, one bucket each."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._prefix = f"model-{token_hex(4)}"
        self._number = 0
        self._big_body = b"5" * MIN_PART
        self._expect(200, "PUT", f"/{self._prefix}")
        self._expect(200, "PUT", f"/{self._prefix}/big", body=self._big_body)

    def close(self) -> None:
        """Removes the objects that all sequences share."""
        self._wire.send("DELETE", f"/{self._prefix}/big")
        self._wire.send("DELETE", f"/{self._prefix}")
        self._wire.close()

    def run(self, seed: int, steps: list[tuple[str, int]] | None = None) -> Failure | None:
        """Runs the sequence of `seed`, or the given steps of it. Returns the failure, if any."""
        steps = sequence(seed) if steps is None else steps
        self._number += 1
        name = f"{self._prefix}-{self._number}"
        self._expect(200, "PUT", f"/{name}")
        environment = Environment(self._wire, name, f"/{self._prefix}/big", self._big_body)
        done: list[tuple[str, int]] = []
        try:
            for step_name, step_seed in steps:
                done.append((step_name, step_seed))
                NAMES[step_name](environment, Random(step_seed))
            environment.check_state()
        except (DifferenceError, KeyError, ValueError, OSError, SyntaxError) as error:
            self._wire.close()
            return Failure(seed, f"{type(error).__name__}: {error}", done, environment.log)
        finally:
            self._remove(name)
        return None

    def shrink(self, failure: Failure) -> Failure:
        """A shorter sequence that still fails. It leaves out halves, then quarters, and so on down to single steps."""
        size = max(1, len(failure.steps) // 2)
        while True:
            at = 0
            while at < len(failure.steps):
                shorter = failure.steps[:at] + failure.steps[at + size :]
                again = self.run(failure.seed, shorter) if shorter else None
                if again is None:
                    at += size
                else:
                    failure = again
            if size == 1:
                return failure
            size //= 2

    def _remove(self, name: str) -> None:
        listing = xml(self._wire.send("GET", f"/{name}", {"versions": ""}).body)
        for kind in ("Version", "DeleteMarker"):
            for key, version_id in zip(texts(listing, f"{kind}/Key"), texts(listing, f"{kind}/VersionId"), strict=True):
                self._wire.send("DELETE", f"/{name}/{key}", {"versionId": version_id})
        self._wire.send("DELETE", f"/{name}")

    def _expect(self, status: int, method: str, path: str, body: bytes = b"") -> None:
        response = self._wire.send(method, path, body=body)
        if response.status != status:
            raise ValueError(f"{method} {path} was answered {response.status}: {response.body[:300]!r}")


def sequence(seed: int) -> list[tuple[str, int]]:
    """The steps of a seed: each one's name and seed."""
    random = Random(seed)
    names = random.choices(list(NAMES), weights=list(WEIGHTS.values()), k=random.randrange(SHORTEST, LONGEST))
    first = [s3_object_steps.put] * random.randrange(0, 6)
    if random.random() < 0.6:
        first.insert(random.randrange(len(first) + 1), s3_object_steps.versioning)
    names = [f"{step.__module__}.{step.__name__}" for step in first] + names
    return [(name, random.getrandbits(48)) for name in names]


def run_all(bench: Bench, seeds: Iterable[int], report: Callable[[int], None] = lambda count: None) -> Failure | None:
    """Runs the sequences of all seeds until one fails. Returns that failure, shrunk."""
    for count, seed in enumerate(seeds, 1):
        failure = bench.run(seed)
        if failure is not None:
            return bench.shrink(failure)
        report(count)
    return None


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--access-key", default=os.environ.get("AWS_ACCESS_KEY_ID"))
    parser.add_argument("--secret-key", default=os.environ.get("AWS_SECRET_ACCESS_KEY"))
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    wire = Wire(options.endpoint, options.access_key, options.secret_key, options.region)
    bench = Bench(wire)
    started = time.monotonic()
    try:
        failure = run_all(bench, range(options.seed, options.seed + options.runs))
    finally:
        bench.close()
    if failure is not None:
        print(failure)
        return 1
    seconds = time.monotonic() - started
    last = options.seed + options.runs - 1
    print(
        f"{options.runs} sequences without difference, seeds {options.seed} to {last}, {wire.requests} requests, {seconds:.1f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
